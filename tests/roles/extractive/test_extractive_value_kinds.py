"""Tests for the kinds of values that the built-in model reads: measures, kin, names."""

import pytest

from holdfast.models.plans.research_plan import ExpectedEntity, Plan
from holdfast.models.reports.report_writer_messages import EvidenceItem, SynthesiserTask
from holdfast.models.tasks.named_value import NamedValue
from holdfast.roles.extractive.planning.planner_rules import plan_by_rules
from holdfast.roles.extractive.questions.question_analysis import QuestionShape, parse_question
from holdfast.roles.extractive.reports.synthesiser_rules import synthesise
from holdfast.roles.extractive.tasks.reasoner_rules import reason_by_rules
from holdfast.roles.extractive.text.measure_units import has_unit
from holdfast.roles.planning.planner import PlannerTask
from holdfast.roles.tasks.extractor import EXTRACTOR, Extracted, ExtractorTask, Fragment
from holdfast.roles.tasks.reasoner import ReasonerAnswer, ReasonerTask
from tests.roles.extractive.extractive_samples import SEARCH_TOOL, extracted_entity, role_answer

BRIDGE = Fragment(
    title="Selby Bridge",
    text="Selby Bridge stands six kilometres south of Orme. The roadway is 210 metres long and "
    "31 metres high. It cost 900 pounds.",
)


def planned(question: str) -> Plan:
    return plan_by_rules(PlannerTask(question=question, tools=(SEARCH_TOOL,))).to_plan()


def sure(one: Extracted) -> bool:
    return one.value is not None and (one.confidence or 0.0) >= 0.7


def concluded(question: str, **values: str) -> ReasonerAnswer:
    inputs = tuple(NamedValue(name=name, value=value) for name, value in values.items())
    task = ReasonerTask(
        question=question,
        description="Answer",
        inputs=inputs,
        outputs=(ExpectedEntity(name="final_answer"),),
    )
    return reason_by_rules(task)


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

    assert extracted_entity(entity.description, BRIDGE).value == value


def test_a_measure_that_is_not_stated_is_not_sure() -> None:
    note = Fragment(title="Selby Bridge", text="Selby Bridge stands six kilometres south of Orme.")

    assert not sure(extracted_entity("height (number): How high is Selby Bridge?", note))
    assert not sure(extracted_entity("width (number): How wide is Selby Bridge?", note))


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

    assert not sure(extracted_entity("wife (person): Who was the wife of Tom Orme?", note))


def test_what_is_asked_goes_on_after_the_description() -> None:
    question = parse_question(
        "In which year did the town where the Ouse Lamp was made receive a charter?"
    )

    assert (question.shape, question.inner_noun) == (QuestionShape.CHAIN, "town")
    assert question.inner == "town where the Ouse Lamp was made"
    assert question.outer.endswith("receive a charter")


def test_a_second_question_is_named_as_left_open() -> None:
    task = SynthesiserTask(
        question="Who built Selby Bridge, and in which year?", answer="Ada Marsh", evidence=()
    )

    (gap,) = synthesise(task).gaps
    assert gap == (
        "The second part of the question was not looked into, because the built-in model answers "
        "one question at a time: in which year?"
    )


def test_entities_have_the_plain_names_of_things() -> None:
    chain = planned("What public office was held by the engineer who designed Selby Bridge?")
    sides = planned("Which tower is taller, that of Selby Bridge or that of Orme Gate?")

    assert [task.expects[0].name for task in chain.tasks] == [
        "engineer",
        "public_office",
        "final_answer",
    ]
    assert [task.expects[0].name for task in sides.tasks[:2]] == [
        "height_of_selby_bridge",
        "height_of_orme_gate",
    ]


def test_what_depends_on_a_found_thing_is_told_what_it_is() -> None:
    _, second, last = planned("What office was held by the engineer of Selby Bridge?").tasks

    assert second.include_context
    assert last.include_context


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
        ("Which insurer paid for the flood?", "telling_passage", "The flood. Ada Marsh reports."),
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
        (
            "What public office did Ada Marsh hold?",
            "Warden of Canals",
            "Public office: Warden of Canals.",
        ),
        ("How long is Selby Bridge?", "210 metres", "Length: 210 metres."),
        ("Are Orme and Selby in the same county?", "no", "No."),
        ("Why did it fall?", "The piers were washed out.", "The piers were washed out."),
    ],
)
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

    assert (
        synthesise(SynthesiserTask(question="?", answer="x", evidence=(item,))).findings[0].text
        == shown
    )


@pytest.mark.parametrize(
    ("passage", "value"),
    [
        ("Insurance: Orme Mutual has paid for the flood.", "Orme Mutual"),
        ("For the flood Orme Bank has paid.", "Orme Bank"),
    ],
)
def test_a_passage_gives_a_group_that_it_says_to_be_one(passage: str, value: str) -> None:
    answer = concluded("Which insurer paid for the flood?", telling_passage=passage)

    assert [each.value for each in answer.outputs] == [value]


@pytest.mark.parametrize(
    "text",
    [
        "The flood claim was settled by Ada Marsh. Ada Marsh, site manager, wrote it down.",
        "The flood claim was settled by Ada Marsh. Present: Ms. Ada Marsh.",
    ],
)
def test_a_person_is_no_sure_group(text: str) -> None:
    entity = planned("Which company settled the flood claim?").tasks[0].expects[0]
    unsaid = text.replace("site manager", "at the site").replace("Ms. ", "")

    assert not sure(extracted_entity(entity.description, Fragment(title="Flood", text=text)))
    assert sure(extracted_entity(entity.description, Fragment(title="Flood", text=unsaid)))


def test_a_word_at_the_beginning_of_a_line_is_no_group() -> None:
    entity = planned("Which company settled the flood claim?").tasks[0].expects[0]
    said = Fragment(title="Flood", text="Policy no. 7, flood claim. The policy was settled.")
    named = Fragment(title="Flood", text="Orme no. 7, flood claim. The policy was settled.")

    assert extracted_entity(entity.description, said).value is None
    assert extracted_entity(entity.description, named).value == "Orme"


@pytest.mark.parametrize(
    ("question", "text", "wrong"),
    [
        (
            "Who approved the budget?",
            (
                "Grace approved the budget. There is a period of grace of 30 days. "
                "Tom Okafor was absent."
            ),
            "Tom Okafor",
        ),
        (
            "Which company owns the warehouse in Orme?",
            (
                "Target owns the warehouse in Orme. The target of 300 pallets was met. "
                "Harlow Logistics runs it."
            ),
            "Harlow Logistics",
        ),
    ],
)
def test_the_next_name_does_not_win_because_the_best_may_be_a_word(
    question: str, text: str, wrong: str
) -> None:
    entity = planned(question).tasks[0].expects[0]

    assert extracted_entity(entity.description, Fragment(title="x", text=text)).value != wrong


@pytest.mark.parametrize(
    ("question", "text", "value"),
    [
        (
            "Which insurer covers the boat Petrel?",
            (
                "Allianz is the insurer that covers the boat Petrel. "
                "Claims go to claims@allianz.com or to Harlow Legal."
            ),
            "Allianz",
        ),
        (
            "Which company insures the van?",
            "Aviva insures the van. Portal: aviva.co.uk. Orme Garage repairs the van.",
            "Aviva",
        ),
    ],
)
def test_a_name_that_stands_in_an_address_too_is_a_name(
    question: str, text: str, value: str
) -> None:
    entity = planned(question).tasks[0].expects[0]

    assert extracted_entity(entity.description, Fragment(title="x", text=text)).value == value


def test_a_group_may_have_a_name_with_a_number() -> None:
    entity = planned("Which group recorded Night Tide?").tasks[0].expects[0]
    text = "D-12 recorded Night Tide in 2004. Selby Four covered Night Tide in 2009."

    assert extracted_entity(entity.description, Fragment(title="x", text=text)).value == "D-12"


def test_the_number_of_a_document_is_no_group() -> None:
    entity = planned("Which insurer settled the flood claim?").tasks[0].expects[0]
    text = "The insurer settled the flood claim {}."

    numbered = Fragment(title="Flood", text=text.format("F-2031-07"))
    named = Fragment(title="Flood", text=text.format("Fable-07"))

    assert extracted_entity(entity.description, numbered).value is None
    assert extracted_entity(entity.description, named).value is not None


def test_a_title_with_a_date_is_no_group() -> None:
    entity = planned("Which company settled the flood claim?").tasks[0].expects[0]
    text = "The flood claim was settled; see Letter of Orme"
    dated = Fragment(title="Letter of Orme, 2 May 2031", text=f"{text}, 2 May 2031.")
    undated = Fragment(title="Letter of Orme", text=f"{text}.")

    assert extracted_entity(entity.description, undated).value == "Letter of Orme"
    assert extracted_entity(entity.description, dated).value != dated.title


@pytest.mark.parametrize(
    ("question", "shape"),
    [
        ("Where did the office of Selby Bank move to?", QuestionShape.DIRECT),
        ("Which insurer settled the claim of Selby Bank?", QuestionShape.DIRECT),
        ("Where does the driver of Selby Queen live?", QuestionShape.CHAIN),
        ("Where does the landlord of 14 Harbour Street live?", QuestionShape.CHAIN),
        ("Which company employs the nurse of Ada Marsh?", QuestionShape.CHAIN),
        ("Which company owns the ship that Ada Marsh built?", QuestionShape.CHAIN),
    ],
)
def test_only_what_has_a_name_is_found_before_a_place_or_a_group(
    question: str, shape: QuestionShape
) -> None:
    assert parse_question(question).shape is shape


def test_a_clause_that_refers_back_by_a_pronoun_describes_no_link() -> None:
    question = parse_question(
        "Who followed the founder of Harlow Mills as the head of the bank that she had led?"
    )

    assert (question.inner, question.outer) == ("founder of Harlow Mills", "Who followed")


@pytest.mark.parametrize(
    "text",
    [
        "site: Marlow; date: 2031-05-02; cost in pounds: 900; paid by insurer in pounds: 0",
        "The flood at Marlow was settled by Ada Quill and Tom Hale. They left at noon.",
    ],
)
def test_no_name_is_a_sure_insurer_where_nothing_says_so(text: str) -> None:
    """Neither the first name nor, once it is excluded, the next one."""
    entity = planned("Which insurer settled the flood?").tasks[0].expects[0]
    said = text.replace("settled by", "settled by the insurer")

    assert not sure(extracted_entity(entity.description, Fragment(title="Flood", text=text)))
    if said != text:
        assert sure(extracted_entity(entity.description, Fragment(title="Flood", text=said)))


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [("Which risk at Marlow is still open?", False), ("What is the opened of Marlow?", True)],
)
def test_a_thing_is_no_cell_of_another_column(question: str, is_asked: bool) -> None:
    entity = planned(question).tasks[0].expects[0]
    row = "site: Marlow; opened: 2022; pallet places: 6500; keeper: Ada Quill; generator: no"

    found = extracted_entity(entity.description, Fragment(title="sites", text=row))

    assert sure(found) is is_asked
    assert (found.value == "2022") is is_asked


def test_a_manager_of_a_fund_may_be_a_company() -> None:
    entity = planned("Which company settled the flood claim?").tasks[0].expects[0]
    fund = "The flood claim was settled by Orme Capital. Orme Capital, manager of the fund, agreed."
    site = fund.replace("of the fund", "of the site")

    assert sure(extracted_entity(entity.description, Fragment(title="Flood", text=fund)))
    assert extracted_entity(entity.description, Fragment(title="Flood", text=site)).value is None


@pytest.mark.parametrize(
    ("name", "post", "is_sure"),
    [
        ("Corran Partners", "manager", True),
        ("Nell Ogden", "manager", False),
        ("Ogden", "manager", False),
        ("Nell Ogden", "secretary", False),
        ("Corran Partners", "director", False),
    ],
)
def test_only_a_manager_with_the_name_of_a_company_is_one(
    name: str, post: str, is_sure: bool
) -> None:
    entity = planned("Which company paid for the roof?").tasks[0].expects[0]
    text = f"The roof was paid for by {name}. {name}, {post} of the housing trust, agreed."

    found = extracted_entity(entity.description, Fragment(title="Roof", text=text))

    assert found.value == name
    assert sure(found) is is_sure


@pytest.mark.parametrize(
    ("question", "text", "value"),
    [
        ("Which club did Nell Ogden play for?", "Nell Ogden played for Everton.", "Everton"),
        ("Which university did Nell Ogden attend?", "Nell Ogden attended Yale.", "Yale"),
        ("Which bank lent Corran the money?", "Lloyds lent Corran the money.", "Lloyds"),
    ],
)
def test_a_group_that_is_not_said_to_be_one_is_found_but_doubtful(
    question: str, text: str, value: str
) -> None:
    entity = planned(question).tasks[0].expects[0]

    found = extracted_entity(entity.description, Fragment(title="Notes", text=text))

    assert found.value == value
    assert not sure(found)


@pytest.mark.parametrize(
    ("question", "row", "value"),
    [
        (
            "Who wrote Salt Road?",
            "title: Salt Road; author: Nell Ogden; year: 1987",
            "Nell Ogden",
        ),
        (
            "Who owns the Corran forge?",
            "forge: Corran; holder: Nell Ogden; built: 1871",
            "Nell Ogden",
        ),
        ("Where is the Corran forge?", "forge: Corran; town: Oxley; built: 1871", "Oxley"),
    ],
)
def test_a_person_or_a_place_is_read_in_a_column_that_the_question_does_not_name(
    question: str, row: str, value: str
) -> None:
    entity = planned(question).tasks[0].expects[0]

    assert extracted_entity(entity.description, Fragment(title="list", text=row)).value == value


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who is the chairman of Corran Ltd?", "Nell Ogden chairs the board of Corran Ltd."),
        ("Who is the CEO of Corran?", "Nell Ogden is the chief executive of Corran."),
        ("Who is the chief executive officer of Corran?", "Nell Ogden is the CEO of Corran."),
        ("Who is the chief financial officer of Corran?", "Nell Ogden is the CFO of Corran."),
        ("Who is the COO of Corran?", "Nell Ogden is the chief operating officer of Corran."),
        ("Who is the press officer of Corran?", "Nell Ogden is the press contact of Corran."),
    ],
)
def test_a_post_may_be_said_by_another_name(question: str, text: str) -> None:
    entity = planned(question).tasks[0].expects[0]

    found = extracted_entity(entity.description, Fragment(title="Corran", text=text))

    assert found.value == "Nell Ogden"
    assert sure(found)


@pytest.mark.parametrize(
    ("passage", "status"),
    [
        ("Corran uses Lotus for its books.", "completed"),
        ("Corran burns peat in its kilns.", "failed"),
        ("user: Corran; uses: peat; kilns: 4", "failed"),
    ],
)
def test_a_passage_that_says_all_but_the_noun_may_answer(passage: str, status: str) -> None:
    answer = concluded("Which software does Corran use?", telling_passage=passage)

    assert answer.status == status


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Which joiner mended the gate of Corran?", "No answer"),
        ("Which insurer paid for the gate of Corran?", "No insurer"),
        ("Who mended the gate of Corran?", "No person"),
    ],
)
def test_what_could_not_be_read_is_named_by_a_noun_that_is_known(
    question: str, missing: str
) -> None:
    answer = concluded(question, telling_passage="it snowed all day.")

    assert answer.explanation == f"{missing} could be read from the passage that was found."


def test_a_surname_after_a_title_is_a_person() -> None:
    entity = planned("Which company settled the flood claim?").tasks[0].expects[0]
    text = "To Ms Quill. The flood claim was settled by Ada Quill."

    assert extracted_entity(entity.description, Fragment(title="Flood", text=text)).value is None
    assert sure(
        extracted_entity(
            entity.description, Fragment(title="Flood", text=text.replace("Ms Quill", "all"))
        )
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The sluice is run by CTO Nell Ogden.", "Nell Ogden"),
        ("The sluice is run by COO Nell Ogden.", "Nell Ogden"),
        ("The sluice is run by Vice President Nell Ogden.", "Nell Ogden"),
        ("The sluice is run by Mayor Ogden.", "Mayor Ogden"),
    ],
)
def test_a_person_is_named_without_a_post(text: str, name: str) -> None:
    entity = planned("Who runs the sluice?").tasks[0].expects[0]

    assert extracted_entity(entity.description, Fragment(title="x", text=text)).value == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Twice a week, Flybe goes from Oxley to Corran.", "Flybe"),
        ("Today Flybe goes from Oxley to Corran.", "Flybe"),
        ("Sometimes has goods that it takes from Oxley to Corran.", "Sometimes"),
    ],
)
def test_how_often_something_happens_is_no_name(text: str, name: str) -> None:
    entity = planned("Which airline goes from Oxley to Corran?").tasks[0].expects[0]

    assert extracted_entity(entity.description, Fragment(title="x", text=text)).value == name


TERM = "The agreement begins on 1 July 2021 and ends on 30 June 2026."


@pytest.mark.parametrize(
    ("change", "value"),
    [
        (
            "The end of the agreement moves from 30 June 2026 to 31 December 2026.",
            "31 December 2026",
        ),
        ("The audit moves from 30 June 2026 to 31 December 2026.", "30 June 2026"),
        ("The end of the agreement stays as it is.", "30 June 2026"),
    ],
)
def test_a_date_that_another_sentence_moves_is_not_the_answer(change: str, value: str) -> None:
    entity = planned("When does the agreement with Orme end?").tasks[0].expects[0]
    texts = (f"Agreement with Orme. {TERM}", f"To Orme. All clauses stay. {change}")

    in_two = extracted_entity(
        entity.description,
        *(Fragment(title=f"Orme {n}", text=each) for n, each in enumerate(texts)),
    )
    in_one = extracted_entity(entity.description, Fragment(title="", text=" ".join(texts)))

    assert (in_two.value, in_one.value) == (value, value)
    assert value in in_two.quote
    assert value in in_one.quote


MOVED_TO = "31 December 2026"


@pytest.mark.parametrize(
    ("change", "is_followed"),
    [
        ("The end of the agreement was moved from 30 June 2026 to {}.", True),
        ("The agreement was extended in May from 30 June 2026 to {}.", True),
        (
            "The motion that the end of the agreement moves from 30 June 2026 to {} was refused.",
            False,
        ),
        ("The end of the agreement was not moved from 30 June 2026 to {}.", False),
        ("The end of the agreement wasn't moved from 30 June 2026 to {}.", False),
        ("Orme proposes that the end of the agreement moves from 30 June 2026 to {}.", False),
        ("The end of the agreement may be moved from 30 June 2026 to {} after a frost.", False),
        ("The end of the agreement moves from 30 June 2026 to {} if the roof is mended.", False),
        ("Orme plans to have the end of the agreement moved from 30 June 2026 to {}.", False),
    ],
)
def test_only_a_change_that_was_made_is_followed(change: str, is_followed: bool) -> None:
    entity = planned("When does the agreement with Orme end?").tasks[0].expects[0]
    text = f"The agreement with Orme ends on 30 June 2026. {change.format(MOVED_TO)}"

    found = extracted_entity(entity.description, Fragment(title="Orme", text=text))

    assert found.value == (MOVED_TO if is_followed else "30 June 2026")


@pytest.mark.parametrize(
    ("title", "text", "is_followed"),
    [
        ("Letter", "To Orme Barn. Its rent rose from £70 to £90.", True),
        ("Orme Barn", "Tom Hale signed it. The rent rose from £70 to £90.", True),
        ("Letter", "- **Rent (clause 4).** The rent of Orme Barn rose from £70 to £90.", True),
        ("Selby Mill", "Behind Orme Barn stands Selby Mill. Its rent rose from £70 to £90.", False),
        ("Orme Barn", "The rent of Selby Mill rose from £70 to £90.", False),
        ("Mills", "The rent of the mill rose from £70 to £90. The mill is like Orme Barn.", False),
    ],
)
def test_a_change_of_another_thing_is_not_followed(
    title: str, text: str, is_followed: bool
) -> None:
    entity = planned("How much is the rent of Orme Barn?").tasks[0].expects[0]
    first = Fragment(title="Orme Barn", text="The rent of Orme Barn is £70 a month.")

    found = extracted_entity(entity.description, first, Fragment(title=title, text=text))

    assert found.value == ("£90" if is_followed else "£70")


def test_what_was_moved_back_has_its_first_value_again() -> None:
    entity = planned("When does the lease of Orme Barn end?").tasks[0].expects[0]
    there = "The end of the lease moves from 3 May 2026 to 9 July 2027."
    back = "The end of the lease moves back from 9 July 2027 to 3 May 2026."
    text = f"The lease of Orme Barn ends on 3 May 2026. {there} {back}"

    found = extracted_entity(entity.description, Fragment(title="Orme Barn", text=text))

    assert (found.value, found.quote) == ("3 May 2026", back)


def test_a_value_after_a_change_in_another_sentence_is_not_sure() -> None:
    """The change may be of another thing: here of the feast, not of the opening."""
    entity = planned("When was Orme Barn opened?").tasks[0].expects[0]
    text = (
        "Orme Barn was opened on 3 May 1922. "
        "The feast of the opening was moved from 3 May 1922 to 6 May 1922."
    )

    assert not sure(extracted_entity(entity.description, Fragment(title="Orme Barn", text=text)))


def test_the_passage_that_is_cited_is_the_one_that_holds_today() -> None:
    change = "The end of the agreement moves from 30 June 2026 to 31 December 2026."
    old = Fragment(title="Agreement with Orme", text=TERM)
    new = Fragment(title="Letter", text=f"To Orme. {change}")
    about = "passage: When does the agreement with Orme end?"

    assert extracted_entity(about, old).quote == TERM
    assert extracted_entity(about, old, new).quote == change


def test_an_account_is_no_short_answer() -> None:
    dated = concluded("When did the flood end?", **{"T1.findings": "The flood ended at noon."})
    risky = concluded("Which risk is open?", **{"T1.findings": "The gate was left open."})
    said = concluded("Which risk is open?", **{"T1.findings": "The risk of a flood is open."})

    assert [each.status for each in (dated, risky, said)] == ["failed", "failed", "completed"]


def test_no_doubtful_value_is_read_out_of_a_whole_response() -> None:
    """What a tool gave as a whole is read only for values that are not doubtful."""
    response = f"Tom Hale went to the fair. Ada Quill saw him.{' Rain fell.' * 80}"
    married = response.replace("saw", "married")

    answers = [concluded("Who is the wife of Tom Hale?", wife=each) for each in (response, married)]

    assert [each.outputs[0].value for each in answers] == [None, "Ada Quill"]


def test_nobody_surely_holds_a_post_that_is_said_nowhere() -> None:
    entity = planned("Who is the safety officer of Orme?").tasks[0].expects[0]
    text = "The storage of Orme was reported by Ada Quill. Tom Hale signed for Orme."
    unsaid = Fragment(title="Storage", text=text)
    said = Fragment(title="Storage", text=text.replace("by Ada", "by the safety officer, Ada"))

    assert not sure(extracted_entity(entity.description, unsaid))
    assert sure(extracted_entity(entity.description, said))


def test_the_title_of_an_agreement_is_no_sure_person() -> None:
    entity = planned("Who stores the fish of Orme?").tasks[0].expects[0]
    text = "Agreement with Marlow Fisheries. The fish of Orme is stored."

    found = extracted_entity(
        entity.description, Fragment(title="Agreement with Marlow Fisheries", text=text)
    )

    assert (found.confidence or 0.0) < 0.61


@pytest.mark.parametrize(
    ("question", "text", "value"),
    [
        ("Which insurer paid for the gate?", "Nell Ogden paid for the gate of Corran.", None),
        ("Who is the CTO of Corran?", "Nell Ogden runs the office of Corran.", None),
        ("Who is the COO of Corran?", "Nell Ogden runs the office of Corran.", None),
        ("Which risk at Corran is open?", "The gate at Corran is open. Oxley opened it.", None),
        ("Who mended the gate?", "Nell Ogden mended the gate of Corran.", "Nell Ogden"),
    ],
)
async def test_a_plan_without_a_threshold_gets_no_doubtful_value(
    question: str, text: str, value: str | None
) -> None:
    task = ExtractorTask(
        description=question,
        arguments={},
        entities=tuple(planned(question).tasks[0].expects[:1]),
        response=(Fragment(title="Notes", text=text),),
    )

    unchecked = await role_answer(EXTRACTOR, task)
    checked = await role_answer(EXTRACTOR, task.model_copy(update={"least_confidence": 0.7}))

    assert unchecked.entities[0].value == value
    assert checked.entities[0].value is not None
