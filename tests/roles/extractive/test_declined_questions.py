"""Tests for questions that the built-in model declines, and for values with their units."""

import pytest

from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.reports.report_writer_messages import ResultItem, SynthesiserTask
from holdfast.models.tasks.named_value import NamedValue
from holdfast.roles.extractive.extraction.extractor_rules import extract
from holdfast.roles.extractive.planning.planner_rules import answer_entity
from holdfast.roles.extractive.questions.declined_questions import is_foreign, why_declined
from holdfast.roles.extractive.questions.question_analysis import parse_question
from holdfast.roles.extractive.reports.synthesiser_rules import synthesise
from holdfast.roles.extractive.tasks.reasoner_rules import reason_by_rules
from holdfast.roles.tasks.extractor import ExtractorTask, Fragment
from holdfast.roles.tasks.reasoner import ReasonerTask

DAYS = "How many days passed from the leak to the repair?"


@pytest.mark.parametrize(
    "question",
    [
        DAYS,
        "How many weeks lie between the audit and the vote?",
        "How much larger is the budget of Tarn Mill than that of Oxley Forge?",
        "What is the difference between the two budgets?",
        "By how much did the rent rise?",
    ],
)
def test_a_question_that_needs_a_calculation_is_declined(question: str) -> None:
    assert why_declined(question).startswith("The question asks for a calculation")


@pytest.mark.parametrize(
    "question",
    [
        "Wer leitet den Standort Selby?",
        "Quel est le budget de Selby ?",
        "¿Quién dirige el proyecto Orva?",
        "Chi dirige il progetto Orva?",
        "Кто руководит проектом?",
        "谁负责这个项目?",
    ],
)
def test_a_question_in_another_language_is_declined(question: str) -> None:
    assert "only English" in why_declined(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which corrective actions were decided?",
        "Dear Ruth, please tell me which corrective actions were decided. Best wishes, Tom",
        "What are the risks at Selby?",
        "Which risks at Selby are still open?",
        "What invoices of Orme Forge remain unpaid?",
        "Summarise what is known about Orva",
        "List all risks at Selby",
        "Outline the repair",
        "Explain the method of Orva",
        "What are the costs and risks of the repair?",
        "Which machines of the mill need a new belt?",
        "Which urgent repairs did the board approve?",
        "Which invoices exceed £400?",
        "Who attended the inspection of the roof?",
        "Name all tenants of the mill",
        "Give me the names of the tenants",
        "Which sites does Corran run?",
        "Which sites has Corran closed?",
        "Which gates should the warden lock?",
        "Who attended the meeting of 3 May?",
    ],
)
def test_a_list_and_an_account_are_declined(question: str) -> None:
    assert "a list or an account" in why_declined(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which of the mills have more looms, Tarn or Oxley?",
        "What is the address of the mill and its owner?",
        "What was the status of the list?",
        "Which bridge is in Selby and was opened by Ada Marsh?",
        "Who directed La casa de las flores?",
        "How many mills does Tarn have?",
        "How long is the road from Selby to Orme?",
        "Which is older, Tarn Mill or Oxley Forge?",
        "Is Tarn Mill larger than Oxley Forge?",
        "Orva budget",
        "What are the opening hours of the museum?",
        "What were the costs of the repair?",
        "What are the headquarters of Acme?",
        "List price of the boat?",
        "Which business pays for the repair?",
        "Which bus stops at the mill?",
        "Which of the mills pays more rent?",
        "Which machines need more power, looms or presses?",
        "Name the owner of the mill",
        "Explain who built the dam",
        "Name the sales manager of Corran",
        "Name the sports club of Ada",
        "State the operations director",
        "Name the species of the tree",
        "Name the series that Ada wrote",
        "Name the person who leads the works",
        "Name the business that owns the mill",
        "Name the owner of the looms",
        "Give the number of sites",
        "Give the sales figure for 2023",
        "Give the days of notice",
        "Give me the contact details",
        "State the number of days of notice",
        "State the goods in transit limit",
        "Which series by Ada Marsh are lost?",
        "Which news of the mill were true?",
        "Which risk at Selby is still open?",
        "Which series did Ada Marsh write?",
        "Which species did the survey report?",
        "Which gas do the boilers use?",
        "Which gas do boilers use?",
        "Which lens do the cameras use?",
        "Which news did the mayor report?",
        "Which canvas did Turner sign?",
        "Which means of transport do they use?",
        "Which of the ministers signed the treaty?",
        "Who attended the same school as Ada Marsh?",
        "Who attended the meeting for Corran?",
        "Who attended the meeting of 3 May for Corran?",
        "Who was present when the roof fell?",
        "",
    ],
)
def test_other_questions_are_read(question: str) -> None:
    assert why_declined(question) == ""
    assert not is_foreign(question)


def test_a_declined_question_has_no_value_but_its_reason() -> None:
    told = NamedValue(name="days", value="4")
    task = ReasonerTask(
        question=DAYS,
        description=DAYS,
        inputs=(told,),
        outputs=(ExpectedEntity(name="final_answer"),),
    )

    answer = reason_by_rules(task)

    assert answer.status == "failed"
    assert "calculates none" in answer.explanation


def test_a_report_on_a_declined_question_says_why() -> None:
    found = ResultItem(task="T1", question=DAYS, status="done", values={"days": "4"})

    report = synthesise(
        SynthesiserTask(question=DAYS, answer=None, concludes=True, results=(found,), evidence=())
    )

    assert report.conclusion is None
    assert "calculates none" in report.summary[-1].text
    assert not any("calculates none" in gap for gap in report.gaps)


@pytest.mark.parametrize(
    ("question", "text", "value"),
    [
        ("What is the target energy density of Orva?", "The target is 175 Wh/kg.", "175 Wh/kg"),
        ("What is the penalty for late delivery?", "The penalty is 2 percent.", "2 percent"),
        ("What is the top speed of Orva?", "The top speed of Orva is 90 km/h.", "90 km/h"),
    ],
)
def test_an_amount_is_read_with_its_unit(question: str, text: str, value: str) -> None:
    entity = ExpectedEntity(**answer_entity(parse_question(question)).model_dump())
    whole = Fragment(title="Orva", text=f"Orva is a battery. {text}")

    (found,) = extract(
        ExtractorTask(description=question, arguments={}, entities=(entity,), response=(whole,))
    ).entities

    assert found.value == value


def test_a_number_of_the_question_must_stand_in_what_confirms_it() -> None:
    asked = "Is the company certified under ISO 14001?"

    def verdict(passage: str) -> str | None:
        task = ReasonerTask(
            question=asked,
            description=asked,
            inputs=(NamedValue(name="passage", value=passage),),
            outputs=(ExpectedEntity(name="final_answer"),),
        )
        found = reason_by_rules(task).outputs[0].value
        return None if found is None else str(found)

    assert verdict("The company is certified under ISO 9001.") is None
    assert verdict("The company is certified under ISO 14001.") == "yes"


@pytest.mark.parametrize(
    ("question", "second"),
    [
        ("When was the contract signed and by whom?", "by whom?"),
        ("Who signed it, and when does it end?", "when does it end?"),
        ("Who leads the mill and where is it?", "where is it?"),
        ("Which mill was built in 1802 and closed in 1931?", ""),
    ],
)
def test_a_second_question_is_named_also_without_a_comma(question: str, second: str) -> None:
    assert parse_question(question).second_question == second
