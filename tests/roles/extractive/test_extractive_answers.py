"""Tests for the built-in reasoner and synthesiser: comparing values, passing values on, and
reporting by quotes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from holdfast.models.calls.model_requests import Message, ModelRequest
from holdfast.models.errors import ModelUnusable
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.reports.report_writer_messages import EvidenceItem, SynthesiserTask
from holdfast.models.tasks.named_value import NamedValue
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.roles.extractive.reports.synthesiser_rules import synthesise
from holdfast.roles.extractive.tasks.reasoner_rules import reason_by_rules
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.tasks.reasoner import REASONER, ReasonerAnswer, ReasonerTask
from tests.roles.extractive.extractive_samples import role_answer

FINAL = (ExpectedEntity(name="final_answer"),)
FIRST = "Which magazine was founded first, McCall's or Christianity Today?"


def concluded(
    question: str, *values: JsonValue, context: tuple[NamedValue, ...] = ()
) -> ReasonerAnswer:
    inputs = tuple(NamedValue(name=f"value_{n}", value=value) for n, value in enumerate(values))
    return reason_by_rules(
        ReasonerTask(
            question=question,
            description=f"Answer: {question}",
            inputs=inputs,
            context=context,
            outputs=FINAL,
        )
    )


@pytest.mark.parametrize(
    ("question", "one", "two", "answer"),
    [
        (FIRST, "1873", "October 15, 1956", "McCall's"),
        (FIRST, "5 May 1990", "4 May 1990", "Christianity Today"),
        ("Who is younger, Ann Lee or Bob Roy?", "born 2 May 1980", "1979", "Ann Lee"),
        ("Which genus has more species, Bursera or Berzelia?", "about 100", "12", "Bursera"),
        ("Which is cheaper, Nord or Fair?", "310 euros", "245 euros", "Fair"),
        ("Are both Ann Lee and Bob Roy directors?", "a film director", "He directed it.", "yes"),
        ("Are both Ann Lee and Bob Roy directors?", "a film director", "He is a dentist.", "no"),
        ("Are Ann Lee and Bob Roy from the same country?", "France", "France", "yes"),
        ("What do King Roger and Fidelio have in common?", "a Polish opera", "an opera", "opera"),
        ("Which author is from Russia, Ann Lee or Bob Roy?", "a poet", "a Russian poet", "Bob Roy"),
    ],
)
def test_two_values_are_compared_by_what_the_question_asks(
    question: str, one: str, two: str, answer: str
) -> None:
    assert concluded(question, one, two).outputs[0].value == answer


def test_silence_is_no_denial() -> None:
    question = "Are both Ann Lee and Bob Roy directors?"

    answer = concluded(question, "Ann Lee is a film director.", "Bob Roy left in 2019.")

    assert answer.outputs[0].value == "not shown in what was read"


def test_a_sentence_that_denies_is_quoted_and_not_taken_for_a_yes() -> None:
    denial = "Slugs did not eat the lettuce."

    assert concluded("Did slugs eat the lettuce?", denial).outputs[0].value == denial
    assert concluded("Did slugs eat the lettuce?", "Slugs ate the lettuce.").outputs[0].value == (
        "yes"
    )


def test_a_tie_is_told_as_it_is() -> None:
    tie = concluded(FIRST, "1956", "1956").outputs[0]

    assert tie.value == "McCall's: 1956; Christianity Today: 1956"


def test_a_single_value_is_passed_on() -> None:
    assert concluded("Who leads Lighthouse?", "Anna Weber").outputs[0].value == "Anna Weber"


def test_a_list_is_named_in_full() -> None:
    assert concluded("Who was there?", ["Anna", "Tom"]).outputs[0].value == "Anna, Tom"


def test_the_value_that_the_same_search_found_goes_before_a_mere_passage() -> None:
    context = (NamedValue(name="T1a.person", value="Anna Weber"),)

    output = concluded("Who leads Lighthouse?", "Anna Weber leads it.", context=context).outputs[0]

    assert output.value == "Anna Weber"


def test_without_a_value_the_deduction_fails_and_says_what_is_missing() -> None:
    answer = concluded("Who leads Lighthouse?", None)

    assert answer.status == "failed"
    assert "value_0" in answer.explanation
    assert answer.outputs[0].value is None


@settings(deadline=None)  # the machine may be busy
@given(
    st.text(max_size=200),
    st.lists(st.none() | st.text(max_size=80) | st.integers() | st.lists(st.text(), max_size=3)),
)
def test_no_input_breaks_the_reasoner(question: str, values: list[JsonValue]) -> None:
    answer = concluded(question, *values)

    assert [each.name for each in answer.outputs] == ["final_answer"]
    assert (answer.status == "failed") == (answer.outputs[0].value is None)


async def test_the_reasoner_answers_through_the_model_like_any_other() -> None:
    task = ReasonerTask(
        question="Who?",
        description="Answer: Who?",
        outputs=FINAL,
        inputs=(NamedValue(name="person", value="Anna"),),
    )

    assert (await role_answer(REASONER, task)).outputs[0].value == "Anna"


EVIDENCE = (
    EvidenceItem(id="E1", title="Kickoff", quote="Anna Weber leads it.", shows="x"),
    EvidenceItem(id="E2", title="", quote="It was approved.", shows="y"),
)


async def test_the_report_quotes_every_piece_of_evidence_under_its_title() -> None:
    task = SynthesiserTask(question="Who?", answer="Anna Weber", evidence=EVIDENCE, gaps=("T2",))

    report = await role_answer(SYNTHESISER, task)

    assert [(each.text, each.evidence) for each in report.findings] == [
        ("Kickoff: “Anna Weber leads it.”", ["E1"]),
        ("“It was approved.”", ["E2"]),
    ]
    assert report.gaps == ["T2"]


def test_the_answer_cites_the_evidence_that_says_it() -> None:
    task = SynthesiserTask(question="Who?", answer="Anna Weber", evidence=EVIDENCE)

    assert [(s.text, s.evidence) for s in synthesise(task).summary] == [
        ("Anna Weber.", ["E1"]),
    ]


def test_an_answer_in_other_words_cites_all_that_it_rests_on() -> None:
    task = SynthesiserTask(question="Is it so?", answer="yes", evidence=EVIDENCE)

    assert synthesise(task).summary[0].evidence == ["E1", "E2"]


def test_without_an_answer_the_report_says_so() -> None:
    report = synthesise(SynthesiserTask(question="Who?", answer=None, evidence=()))

    assert report.summary[0].text == "Not found: nothing that was read answers the question."


@settings(deadline=None)  # the machine may be busy
@given(st.text(max_size=80), st.lists(st.tuples(st.text(max_size=30), st.text(max_size=90))))
def test_every_statement_of_a_report_cites_only_given_evidence(
    answer: str, quotes: list[tuple[str, str]]
) -> None:
    evidence = tuple(
        EvidenceItem(id=f"E{n}", title=title, quote=quote, shows="")
        for n, (title, quote) in enumerate(quotes, start=1)
    )

    report = synthesise(SynthesiserTask(question="?", answer=answer, evidence=evidence))

    known = {each.id for each in evidence}
    assert all(set(each.evidence) <= known for each in (*report.summary, *report.findings))
    assert all(each.evidence for each in report.findings)


@pytest.mark.parametrize(("role", "text"), [("poet", "{}"), ("planner", "not a task")])
async def test_what_the_rules_cannot_play_is_refused_by_name(role: str, text: str) -> None:
    request = ModelRequest(
        model="extractive", role=role, messages=(Message(role="user", content=text),)
    )

    with pytest.raises(ModelUnusable, match=role):
        await ExtractiveModel().complete(request)


async def test_playing_a_role_costs_no_tokens() -> None:
    task = SynthesiserTask(question="Who?", answer="Anna", evidence=EVIDENCE)
    request = ModelRequest(
        model="extractive",
        role="synthesiser",
        messages=(Message(role="user", content=task.model_dump_json()),),
    )

    completion = await ExtractiveModel().complete(request)

    assert (completion.model, completion.input_tokens, completion.output_tokens) == (
        "extractive",
        0,
        0,
    )
    assert not completion.is_estimated


def test_two_passages_that_say_nothing_of_what_is_compared_are_not_compared() -> None:
    question = "Which warehouse has more pallet places, Mellstone or Corran?"
    stores = "Tarnbrook stores vaccines at its Mellstone warehouse in chamber M4, at 2 °C to 8 °C."
    calls = "For the Corran warehouse alone, the call-out time in clause 2 becomes four hours."
    places = "The Mellstone warehouse has 11,200 pallet places in five chambers of its own."
    fewer = "The Corran warehouse has 6,500 pallet places in four chambers of its own."

    assert concluded(question, stores, calls).status == "failed"
    assert concluded(question, places, fewer).outputs[0].value == "Mellstone"
    assert concluded(question, "11,200", "6,500").outputs[0].value == "Mellstone"
