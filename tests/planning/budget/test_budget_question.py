"""Tests for the meaning and the consequences of an answer to the budget question."""

from decimal import Decimal

import pytest

from holdfast.models.budget.spend_breakdown import Bill
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.jobs.job_state import AnswerReceipt, EndJob, JobState, TaskState, WriteReport
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.questions.user_questions import OpenQuestion, QuestionKind
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.planning.budget.budget_question import budget_decision, budget_question
from holdfast.planning.budget.spend_totals import spend_breakdown
from holdfast.planning.scheduler.next_actions import decide
from holdfast.planning.scheduler.state_transitions import apply_answer_receipt, set_paused

TOKENS = Strategy(max_tokens=1000)
MONEY = Strategy(max_cost=2.0)
BOTH = Strategy(max_tokens=1000, max_cost=2.0)


@pytest.mark.conformance("BEY-06")
@pytest.mark.parametrize(
    ("words", "strategy", "caps"),
    [
        ("raise 200000", TOKENS, (200_000, None)),
        ("raise 200,000", TOKENS, (200_000, None)),
        (" Raise 2.50 ", MONEY, (None, 2.5)),
        ("raise max_tokens=2_000", BOTH, (2000, 2.0)),
        ("raise max_cost = 3", BOTH, (1000, 3.0)),
    ],
)
def test_raise_names_the_new_cap(
    words: str, strategy: Strategy, caps: tuple[int | None, float | None]
) -> None:
    raised = budget_decision(words, strategy)

    assert raised.strategy is not None
    assert (raised.strategy.max_tokens, raised.strategy.max_cost) == caps
    assert raised.ending is None


@pytest.mark.parametrize(
    ("words", "strategy", "says"),
    [
        ("", TOKENS, "is no answer"),
        ("more", TOKENS, "'more' is no answer"),
        ("raise", TOKENS, "is no answer"),
        ("raise -5", TOKENS, "is no answer"),
        ("raise 999", TOKENS, "max_tokens is 1000 already"),
        ("raise 2.50", TOKENS, "max_tokens is 1000 already"),
        ("raise 2000.5", TOKENS, "max_tokens"),
        ("raise 2000", BOTH, "say which cap"),
    ],
)
def test_what_decides_nothing_is_refused_with_what_to_write(
    words: str, strategy: Strategy, says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        budget_decision(words, strategy)


@pytest.mark.conformance("BEY-06")
@pytest.mark.parametrize(("words", "reports"), [("report", True), ("STOP", False)])
def test_the_job_ends_for_its_budget_with_a_report_or_without(words: str, reports: bool) -> None:
    decision = budget_decision(words, TOKENS)
    task = TaskState(id="T1", kind=TaskKind.TOOL, label="", root="T1", status=TaskStatus.DONE)
    question = OpenQuestion(id=7, kind=QuestionKind.BUDGET)
    state = JobState(strategy=TOKENS, has_plan=True, tasks={"T1": task}, questions=(question,))

    receipt = AnswerReceipt(ending=decision.ending, reports_first=decision.reports_first)
    (after,) = decide(apply_answer_receipt(state, 7, receipt))

    if reports:
        assert isinstance(after, WriteReport)
    else:
        assert isinstance(after, EndJob)
        assert (after.status, after.reason) == (JobStatus.FAILED, StopReason.BUDGET)


def test_whoever_resumes_the_job_has_answered_the_question_of_its_budget() -> None:
    asked = (
        OpenQuestion(id=1, kind=QuestionKind.BUDGET),
        OpenQuestion(id=2, kind=QuestionKind.QUESTION, task_id="T1"),
    )
    state = set_paused(JobState(strategy=TOKENS, questions=asked))
    assert state.questions == asked

    resumed = set_paused(state, is_paused=False)

    assert [each.id for each in resumed.questions] == [2]


@pytest.mark.conformance("BEY-06")
def test_the_question_says_what_was_spent_on_which_task_without_a_typed_answer() -> None:
    bills = [
        Bill(role="planner", model="m", calls=1, input_tokens=300, cost=Decimal("0.5")),
        Bill(role="reasoner", task="T2", model="m", calls=1, input_tokens=600, cost=None),
    ]

    lines = budget_question(BOTH, spend_breakdown(bills)).splitlines()

    assert "900 of 1,000 tokens; unknown of 2.0 in money." in lines[0]
    assert lines[1:3] == ["  T2: 600 tokens, cost unknown", "  plan: 300 tokens, cost 0.5"]
    assert lines[3:] == ["15% is kept for a report of what was found."]


@pytest.mark.conformance("BEY-06")
def test_a_question_before_the_first_call_names_no_tasks() -> None:
    lines = budget_question(MONEY, spend_breakdown([])).splitlines()

    assert lines[0].endswith("0 of 2.0 in money.")
    assert lines[1:] == ["15% is kept for a report of what was found."]
