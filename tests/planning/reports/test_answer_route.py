"""Tests for the route of an answer, and for the confidence that a route's answers have earned."""

import pytest

from holdfast.models.evidence.answer_routes import AnswerRoute
from holdfast.models.evidence.evidence import Report, ReportConclusion
from holdfast.models.plans.research_plan import (
    FINAL_ANSWER,
    ExpectedEntity,
    Plan,
    Task,
    TaskInput,
    TaskKind,
    TaskStatus,
)
from holdfast.planning.reports.answer_calibration import (
    built_in_calibration,
    calibrated_confidence,
    calibrated_report,
)
from holdfast.planning.reports.answer_route import answer_route
from holdfast.planning.reports.stated_answers import TitledQuote

pytestmark = pytest.mark.conformance("EVA-01")

WHERE = "In which town was the designer of the lamp born?"
OLDER = "Which mill is older, Tarn Mill or Oxley Mill?"
TABLE = {AnswerRoute.DIRECT: 0.6, AnswerRoute.PASSAGE: 0.3, AnswerRoute.ANY: 0.5}


def search(task_id: str, value: str, *after: str, status: TaskStatus = TaskStatus.DONE) -> Task:
    return Task(
        id=task_id,
        kind=TaskKind.TOOL,
        description="find",
        tool="corpus.search",
        expects=(ExpectedEntity(name="value"),),
        depends_on=after,
        status=status,
        result={"value": value} if status is TaskStatus.DONE else {},
    )


def last(*inputs: str, kind: TaskKind = TaskKind.REASONING) -> Task:
    return Task(
        id="T9",
        kind=kind,
        description="answer",
        agent="generalist" if kind is TaskKind.AGENT else "",
        inputs=tuple(
            TaskInput(name=f"in{at}", value=f"<JSON_PATH>{each}.value</JSON_PATH>")
            for at, each in enumerate(inputs)
        ),
        expects=(ExpectedEntity(name=FINAL_ANSWER),),
        depends_on=inputs,
        status=TaskStatus.DONE,
    )


PASSAGE = "Imogen Pell, who designed the lamp, was born in the town of Selby."


@pytest.mark.parametrize(
    ("tasks", "answer", "route"),
    [
        ((search("T1", "Selby"), last("T1")), "Selby", AnswerRoute.DIRECT),
        (
            (search("T1", "Pell"), search("T2", "Selby", "T1"), last("T2")),
            "Selby",
            AnswerRoute.CHAINED,
        ),
        (
            (search("T1", "", status=TaskStatus.SUPERSEDED), search("T1a", "Selby"), last("T1a")),
            "Selby",
            AnswerRoute.REPLANNED,
        ),
        ((search("T1", PASSAGE), last("T1")), "Selby", AnswerRoute.PASSAGE),
        ((search("T1", PASSAGE), last("T1")), PASSAGE, AnswerRoute.SENTENCE),
        ((search("T1", "Lamp town"), last("T1")), "Lamp town", AnswerRoute.ECHOED),
        ((search("T1", "a"), search("T2", "b"), last("T1", "T2")), "both", AnswerRoute.SHARED),
        ((search("T1", "a"), search("T2", "b"), last("T1", "T2")), "Yes.", AnswerRoute.YES_OR_NO),
        ((last(kind=TaskKind.AGENT),), "Selby", AnswerRoute.AGENT),
        (
            (search("T1", "", status=TaskStatus.FAILED), last(kind=TaskKind.AGENT)),
            "Selby",
            AnswerRoute.REPLANNED,
        ),
        ((search("T1", "Selby"),), "Selby", AnswerRoute.CONCLUDED),
    ],
)
def test_the_route_follows_from_the_plan_and_the_answer(
    tasks: tuple[Task, ...], answer: str, route: AnswerRoute
) -> None:
    assert answer_route(Plan(tasks=tasks), WHERE, answer) is route


def test_one_of_two_compared_things_is_chosen_under_any_plan() -> None:
    compared = Plan(tasks=(search("T1", "1802"), search("T2", "1871"), last("T1", "T2")))

    for plan in (compared, Plan(tasks=(search("T1", "1802"),))):
        assert answer_route(plan, OLDER, "Oxley Mill") is AnswerRoute.CHOSEN
    assert answer_route(Plan(), OLDER, "Oxley Mill", is_of_loop=True) is AnswerRoute.CHOSEN
    assert answer_route(Plan(), WHERE, "Selby", is_of_loop=True) is AnswerRoute.LOOP


def test_a_loop_that_searches_again_and_again_has_a_route_of_its_own() -> None:
    steps = [search(f"T0.{at}", "Selby").with_parent("T0") for at in range(3)]

    assert answer_route(Plan(tasks=tuple(steps[:2])), WHERE, "Selby", is_of_loop=True) is (
        AnswerRoute.LOOP
    )
    assert answer_route(Plan(tasks=tuple(steps)), WHERE, "Selby", is_of_loop=True) is (
        AnswerRoute.LONG_LOOP
    )


SAID = TitledQuote("Each mill of the Oxley estate was built in Selby.", "Oxley mills")


@pytest.mark.parametrize(
    ("question", "answer", "is_stated"),
    [
        ("Where was each mill of the Oxley estate built?", "Selby", True),
        ("Where was each mill of the Oxley estate built?", "Sel", False),  # no whole word
        ("Where was the oldest cotton mill of the Oxley estate sold?", "Selby", False),
        ("Where was each mill of the Oxley estate built?", "Leeds", False),
    ],
)
def test_an_answer_that_one_quote_states_plainly_has_a_route_of_its_own(
    question: str, answer: str, is_stated: bool
) -> None:
    steps = [search(f"T0.{at}", "Selby").with_parent("T0") for at in range(3)]
    plan = Plan(tasks=tuple(steps))

    route = answer_route(plan, question, answer, [SAID], is_of_loop=True)

    assert route is (AnswerRoute.STATED if is_stated else AnswerRoute.LONG_LOOP)


@pytest.mark.parametrize(
    "question",
    ["Why did the mill close?", "How did revenue change?", "Summarise the minutes.", "List them."],
)
def test_a_question_without_a_short_answer_has_a_route_of_its_own(question: str) -> None:
    plan = Plan(tasks=(search("T1", PASSAGE), last("T1")))

    assert answer_route(plan, question, PASSAGE) is AnswerRoute.OPEN
    assert answer_route(plan, "How many mills are there?", "4") is AnswerRoute.PASSAGE


def test_a_retracted_input_gives_no_route_of_a_value() -> None:
    plan = Plan(tasks=(search("T1", "Selby").without_result(), last("T1")))

    assert answer_route(plan, WHERE, "Selby") is AnswerRoute.AGENT


@pytest.mark.parametrize(
    ("stated", "route", "calibrated"),
    [
        (0.8, AnswerRoute.DIRECT, 0.6),
        (0.4, AnswerRoute.DIRECT, 0.4),
        (0.8, AnswerRoute.LOOP, 0.5),
    ],
)
@pytest.mark.conformance("REP-01")
def test_a_route_can_only_lower_the_confidence(
    stated: float, route: AnswerRoute, calibrated: float
) -> None:
    assert calibrated_confidence(stated, route, TABLE) == calibrated
    assert calibrated_confidence(stated, route, {}) == stated


def test_a_calibrated_report_lowers_its_conclusions_too() -> None:
    conclusions = (
        ReportConclusion(text="Selby.", confidence=0.8),
        ReportConclusion(text="A town.", confidence=0.2),
    )
    report = Report(question=WHERE, answer="Selby", confidence=0.8, conclusions=conclusions)

    found = calibrated_report(report, AnswerRoute.PASSAGE, TABLE)

    assert (found.confidence, found.route) == (0.3, AnswerRoute.PASSAGE)
    assert [each.confidence for each in found.conclusions] == [0.3, 0.2]
    nothing = report.model_copy(update={"answer": None, "confidence": None, "conclusions": ()})
    assert calibrated_report(nothing, AnswerRoute.PASSAGE, TABLE) == nothing


def test_the_built_in_model_is_never_as_sure_as_it_was() -> None:
    table = built_in_calibration()["extractive"]

    assert AnswerRoute.ANY in table
    assert all(share <= 0.8 for share in table.values())
