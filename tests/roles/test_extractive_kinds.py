"""The built-in model on ordinary notes: a value is of the asked kind, or none is given."""

import pytest

from models.plan import Expected, Plan
from roles.extractive.extraction import extract
from roles.extractive.measures import has_unit
from roles.extractive.offices import offices
from roles.extractive.planning import plan
from roles.extractive.questions import Shape, analyse
from roles.extractive.reasoning import reason
from roles.extractive.synthesis import synthesise
from roles.extractor import Extracted, ExtractorTask, Fragment
from roles.planner import PlannerTask
from roles.reasoner import Given, ReasonerAnswer, ReasonerTask
from roles.synthesiser import EvidenceItem, SynthesiserTask
from tests.roles.test_extractive_shared import SEARCH, found

MARSH = Fragment(
    title="Ada Marsh",
    text="Ada Marsh joined the railway as a clerk in 1901. She was an engineer for nine years. "
    "In 1923 Ada Marsh was elected Warden of the Canals, an office that she kept for two years.",
)
BRIDGE = Fragment(
    title="Selby Bridge",
    text="Selby Bridge stands six kilometres south of Orme. The roadway is 210 metres long and "
    "31 metres high. It cost 900 pounds.",
)


def planned(question: str) -> Plan:
    return plan(PlannerTask(question=question, tools=(SEARCH,))).to_plan()


def sure(one: Extracted) -> bool:
    return one.value is not None and (one.confidence or 0.0) >= 0.7


def after(known: str, description: str, note: Fragment) -> Extracted:
    """What is read once an earlier task has found something."""
    task = ExtractorTask(
        description="Search for: What public office was held by the engineer of Selby Bridge?",
        arguments={"query": f"{known} public office"},
        entities=(Expected(name="public_office", description=description),),
        response=(note,),
        context=(Given(name="T1.engineer", value=known),),
    )
    return extract(task).entities[0]


def concluded(question: str, **values: str) -> ReasonerAnswer:
    inputs = tuple(Given(name=name, value=value) for name, value in values.items())
    task = ReasonerTask(
        question=question, description="Answer", inputs=inputs,
        outputs=(Expected(name="final_answer"),),
    )  # fmt: skip
    return reason(task)


def test_an_office_is_what_somebody_was_elected_to_and_never_the_person() -> None:
    office = after("Ada Marsh", "public office (office): office held", MARSH)

    assert office.value == "Warden of the Canals"
    assert sure(office)


def test_without_an_office_none_is_given() -> None:
    note = Fragment(title="Ada Marsh", text="Ada Marsh was an engineer. She left Orme in 1923.")

    assert after("Ada Marsh", "public office (office): office held", note).value is None


@pytest.mark.parametrize(
    ("text", "office"),
    [
        ("In 1931 she was appointed Comptroller of Tides of the isles, a post.", "Comptroller of Tides of the isles"),
        ("He served as mayor of Orme from 1902 to 1910.", "mayor of Orme"),
        ("She held the office of Lord Auditor until 1950.", "Lord Auditor"),
        ("In 1999 Ann Lee became President of the club.", "President of the club"),
        ("He left when he was elected Speaker of the House.", "Speaker of the House"),
    ],
)  # fmt: skip
def test_verbs_of_appointment_tell_an_office(text: str, office: str) -> None:
    assert [each.name for each in offices(text) if each.is_said] == [office]


@pytest.mark.parametrize(
    "text", ["The Board named Lisk.", "He was made of straw.", "It became late."]
)
def test_what_is_no_agent_is_no_office(text: str) -> None:
    assert not list(offices(text))


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How long is Selby Bridge?", "210 metres"),
        ("How high is Selby Bridge?", "31 metres"),
        ("How much did Selby Bridge cost?", "900 pounds"),
    ],
)
def test_a_measure_is_an_amount_in_a_unit_of_it(question: str, value: str) -> None:
    entity = planned(question).tasks[0].expects[0]

    assert found(entity.description, BRIDGE).value == value


def test_a_measure_that_is_not_stated_is_not_sure() -> None:
    note = Fragment(title="Selby Bridge", text="Selby Bridge stands six kilometres south of Orme.")

    assert not sure(found("height (number): How high is Selby Bridge?", note))
    assert not sure(found("width (number): How wide is Selby Bridge?", note))


@pytest.mark.parametrize(
    ("value", "noun", "fits"),
    [
        ("1,860 metres", "length", True),
        ("two hours", "length", True),
        ("two hours", "height", False),
        ("46", "height", False),
        ("141 years", "duration", True),
        ("12 tonnes", "weight", True),
        ("12", "population", True),
    ],
)
def test_units_tell_the_dimension(value: str, noun: str, fits: bool) -> None:
    assert has_unit(value, noun) is fits


def test_a_wife_is_one_only_where_something_says_so() -> None:
    note = Fragment(title="Tom Orme", text="Tom Orme worked with Ada Marsh from 1901 to 1909.")

    assert not sure(found("wife (person): Who was the wife of Tom Orme?", note))


def test_what_is_asked_goes_on_after_the_description() -> None:
    question = analyse("In which year did the town where the Ouse Lamp was made receive a charter?")

    assert (question.shape, question.inner_noun) == (Shape.CHAIN, "town")
    assert question.inner == "town where the Ouse Lamp was made"
    assert question.outer.endswith("receive a charter")


def test_a_second_question_is_named_as_left_open() -> None:
    task = SynthesiserTask(
        question="Who built Selby Bridge, and in which year?", answer="Ada Marsh", evidence=()
    )

    assert synthesise(task).gaps == [
        "The second part of the question was not looked into: in which year?"
    ]


def test_entities_have_the_plain_names_of_things() -> None:
    chain = planned("What public office was held by the engineer who designed Selby Bridge?")
    sides = planned("Which tower is taller, that of Selby Bridge or that of Orme Gate?")

    assert [task.expects[0].name for task in chain.tasks] == [
        "engineer", "public_office", "final_answer",
    ]  # fmt: skip
    assert [task.expects[0].name for task in sides.tasks[:2]] == [
        "height_of_selby_bridge", "height_of_orme_gate",
    ]  # fmt: skip


def test_what_depends_on_a_found_thing_is_told_what_it_is() -> None:
    _, second, last = planned("What office was held by the engineer of Selby Bridge?").tasks

    assert second.include_context
    assert last.include_context


def test_the_difference_is_told_where_it_is_asked() -> None:
    question = (
        "Which tower is taller, that of Selby Bridge or that of Orme Gate, and by how many metres?"
    )

    answer = concluded(question, one="46 metres", two="42 metres").outputs[0].value

    assert answer == "Selby Bridge, by 4 metres (46 metres against 42 metres)"


@pytest.mark.parametrize(
    ("one", "two", "answer"),
    [
        ("Hask & Dole", "the Bell Foundry", "no"),
        ("Hask & Dole", "Hask & Dole", "yes"),
        ("The tower was built in two seasons by a firm of Stennick.", "Hask & Dole", None),
    ],
)
def test_the_same_firm_is_two_equal_values_that_were_both_found(
    one: str, two: str, answer: str | None
) -> None:
    question = "Were the towers of Selby Light and Orme Light made by the same firm?"

    assert concluded(question, one=one, two=two).outputs[0].value == answer


@pytest.mark.parametrize(
    ("question", "name", "value"),
    [
        ("In which year did Orme receive its charter?", "telling_passage", "Orme is a town."),
        ("Who had the watch with Hobb Tarrant?", "person", "Tarrant"),
        ("Which is older, Selby Bridge or Orme Gate?", "telling_passage", "Orme Gate is a gate."),
    ],
)
def test_what_is_no_answer_fails_instead_of_being_given(
    question: str, name: str, value: str
) -> None:
    answer = concluded(question, **{name: value})

    assert answer.status == "failed"
    assert answer.explanation


@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [
        ("What public office did Ada Marsh hold?", "Warden of Canals", "Public office: Warden of Canals."),
        ("How long is Selby Bridge?", "210 metres", "Length: 210 metres."),
        ("Are Orme and Selby in the same county?", "no", "No."),
        ("Why did it fall?", "The piers were washed out.", "The piers were washed out."),
    ],
)  # fmt: skip
def test_the_answer_reads_as_a_sentence(question: str, answer: str, said: str) -> None:
    task = SynthesiserTask(question=question, answer=answer, evidence=())

    assert synthesise(task).summary[0].text == said


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Orme — Orme > Trade", "Orme > Trade: “x”"),
        ("Orme — Orme", "Orme: “x”"),
        ("Orme — Trade", "Orme — Trade: “x”"),
        ("A — B — C", "A — B — C: “x”"),
    ],
)
def test_a_title_is_told_once(title: str, shown: str) -> None:
    item = EvidenceItem(id="E1", title=title, quote="x", shows="")

    assert synthesise(SynthesiserTask(question="?", answer="x", evidence=(item,))).findings[
        0
    ].text == shown  # fmt: skip
