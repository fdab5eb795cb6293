"""Tests for the stages of a job: what each spent, and why it was needed (MOD-06)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.budget.job_stages import Stage, StageName, ToolBill
from holdfast.models.budget.spend_breakdown import Bill
from holdfast.models.plans.plan_change import FieldChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.models.views.job_views import EventView
from holdfast.models.wire.event_kinds import EventKind
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.budget.job_stages import JobCourse, job_stages
from holdfast.planning.strategies.strategy_presets import preset

pytestmark = pytest.mark.conformance("MOD-06")

TASKS = ("", "T0", "T0.1", "T1", "T1.1", "T2", "report", "verify:1")
amounts = st.integers(0, 1000)
bills = st.lists(
    st.builds(
        Bill,
        role=st.sampled_from((*RoleName, "somebody_new")),
        task=st.sampled_from(TASKS),
        attempt=st.integers(1, 3),
        model=st.just("m"),
        calls=st.integers(1, 5),
        input_tokens=amounts,
        output_tokens=amounts,
        cost=st.decimals(0, 10, places=3),
        seconds=st.floats(0, 10),
    ),
    max_size=12,
)
tool_bills = st.lists(
    st.builds(
        ToolBill,
        task=st.sampled_from(TASKS),
        attempt=st.integers(1, 3),
        calls=st.integers(1, 5),
        seconds=st.floats(0, 10),
    ),
    max_size=8,
)


def entry(kind: EventKind, **facts: Any) -> EventView:
    return EventView(seq=1, at=datetime.now(UTC), kind=kind, task="", facts=facts)


def handed_over(cause: str, why: str, left: int) -> EventView:
    return entry(EventKind.LOOP_HANDED_OVER, cause=cause, why=why, proven=0, open=left)


PLANNED = StoredPlanChange(number=2, cause=PlanChangeCause.PLANNED, added=("T1", "T2"))
GAPS = StoredPlanChange(
    number=4,
    cause=PlanChangeCause.GAPS,
    added=("T3",),
    changed=(FieldChange(task="T1", field="attempt", old=1, new=2),),
)
LEFT_OPEN = handed_over("open", "not found: where Ada was born", 1)
WHOLE_COURSE: Mapping[str, Any] = {
    "opening": "T0",
    "bills": [
        Bill(role=RoleName.LOOP_AGENT, task="T0", model="m", calls=3, input_tokens=50, cost=None),
        Bill(role=RoleName.ANSWER_JUDGE, task="T0", model="m", calls=1, cost=Decimal("0.1")),
        Bill(role=RoleName.PLANNER, model="m", calls=1, output_tokens=7, cost=Decimal("0.2")),
        Bill(role=RoleName.STEPPER, task="T1", model="m", calls=4, seconds=2.5),
        Bill(role=RoleName.REPLANNER, task="replan:T2", model="m", calls=1),
        Bill(role=RoleName.VERIFIER, task="verify:1", model="m", calls=2),
        Bill(role=RoleName.GAP_PLANNER, task="fill:1", model="m", calls=1),
        Bill(role=RoleName.STEPPER, task="T1", attempt=2, model="m", calls=2),
        Bill(role=RoleName.LOOP_AGENT, task="T3", model="m", calls=2),
        Bill(role=RoleName.ANSWER_JUDGE, task="T3", model="m", calls=1),
        Bill(role=RoleName.SYNTHESISER, task="report", model="m", calls=1),
    ],
    "tool_bills": [
        ToolBill(task="T0.1", attempt=1, calls=2, seconds=0.5),
        ToolBill(task="T1.1", attempt=1, calls=3),
        ToolBill(task="T1.2", attempt=1, calls=1),
    ],
    "changes": [
        StoredPlanChange(number=1, cause=PlanChangeCause.PLANNED, added=("T0",)),
        PLANNED,
        StoredPlanChange(number=3, cause=PlanChangeCause.STEPPED, scope="T1", added=("T1.1",)),
        GAPS,
        StoredPlanChange(number=5, cause=PlanChangeCause.STEPPED, scope="T1", added=("T1.2",)),
    ],
    "log": [
        LEFT_OPEN,
        entry(EventKind.STOP_CHECKED, round=1, complete=1, total=2, fired=None),
        entry(EventKind.STOP_CHECKED, round=2, complete=3, total=3, fired="ready_threshold"),
        entry(EventKind.REPORT_DELIVERED),
    ],
}


def stages(preset_name: str = "research", **course: Any) -> dict[str, Stage]:
    nothing: dict[str, Any] = {"opening": "", "bills": (), "tool_bills": (), "changes": ()}
    found = job_stages(
        JobCourse(strategy=preset(preset_name).strategy, **{**nothing, "log": (), **course})
    )
    return {each.name.value: each for each in found}


def test_each_call_counts_in_the_stage_that_needed_it() -> None:
    found = stages(**WHOLE_COURSE)

    assert {name: (each.model_calls, each.tool_calls) for name, each in found.items()} == {
        "loop": (4, 2),
        "plan": (1, 0),
        "work": (5, 3),
        "verify": (2, 0),
        "fill": (6, 1),
        "report": (1, 0),
    }
    assert found["loop"].input_tokens == 50
    assert (found["loop"].cost, found["plan"].cost) == (None, Decimal("0.2"))
    assert (found["loop"].seconds, found["work"].seconds) == (0.5, 2.5)


def test_each_stage_says_why_it_was_needed() -> None:
    assert {name: each.why for name, each in stages(**WHOLE_COURSE).items()} == {
        "loop": "The preset first tries to answer the whole question at once.",
        "plan": "The first try left 1 question open: where Ada was born.",
        "work": "The plan has 2 tasks.",
        "verify": "The preset verifies the results of the plan.",
        "fill": "The first verification round found 1 of 2 results complete.",
        "report": "Verification stopped: enough of the sub-questions were complete.",
    }


@pytest.mark.parametrize(
    ("cause", "why", "sentence"),
    [
        ("wide", "the question is wide: 2 sub-questions", "The question is wide: 2 sub-questions."),
        ("open", "not found: a; b", "The first try left 2 questions open: a; b."),
        ("limit", "8 turns were taken", "The first try reached a limit: 8 turns were taken."),
        ("refused", "no quote shows it", "The proof refused the first answer: no quote shows it."),
    ],
)
def test_a_plan_says_why_the_loop_was_not_enough(cause: str, why: str, sentence: str) -> None:
    found = stages(opening="T0", log=[handed_over(cause, why, 2)])

    assert found["plan"].why == sentence


def test_a_failed_loop_and_a_preset_without_a_loop_are_planned_for_another_reason() -> None:
    planner = [Bill(role=RoleName.PLANNER, model="m", calls=1)]

    assert stages(opening="T0", bills=planner)["plan"].why == "The first try failed."
    assert stages("kpi-chain", bills=planner)["plan"].why == "The preset begins with a plan."


def test_a_question_that_the_loop_answers_has_two_stages() -> None:
    log = [entry(EventKind.REPORT_DELIVERED)]
    bill = Bill(role=RoleName.LOOP_AGENT, task="T1", model="m", calls=2)
    loop_plan = StoredPlanChange(number=1, cause=PlanChangeCause.PLANNED, added=("T1",))

    of_research = stages(opening="T0", log=log)
    of_loop = stages("loop", bills=[bill], changes=[loop_plan], log=log)

    assert list(of_research) == list(of_loop) == ["loop", "report"]
    assert of_loop["report"].why == "The answer's proven sentences are the report."
    assert of_loop["loop"].model_calls == 2


def test_a_fixed_plan_is_named_as_one() -> None:
    plan = StoredPlanChange(number=1, cause=PlanChangeCause.PLANNED, added=("T1", "T2", "T3"))
    bill = Bill(role=RoleName.STEPPER, task="T1", model="m", calls=2)

    found = stages("static-pipeline", bills=[bill], changes=[plan])

    assert {name: each.why for name, each in found.items()} == {
        "work": "The preset has a fixed plan of 3 tasks."
    }


@given(bills, tool_bills, st.sampled_from(("T0", "")), st.sampled_from(("research", "loop")))
def test_the_stages_add_up_to_the_job(
    spent: list[Bill], called: list[ToolBill], opening: str, preset_name: str
) -> None:
    found = stages(
        preset_name, bills=spent, tool_bills=called, opening=opening, changes=[PLANNED, GAPS]
    ).values()

    assert sum(each.model_calls for each in found) == sum(bill.calls for bill in spent)
    assert sum(each.tool_calls for each in found) == sum(bill.calls for bill in called)
    tokens = sum(bill.input_tokens + bill.output_tokens for bill in spent)
    assert sum(each.input_tokens + each.output_tokens for each in found) == tokens
    assert sum(each.cost or 0 for each in found) == sum(bill.cost or 0 for bill in spent)
    assert [each.name for each in found] == [
        name for name in StageName if name in {each.name for each in found}
    ]
