"""Tests that a continuation replaces the failed task and its dependents and nothing else (KPI-12)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.strategies.job_strategy import ReplanScope
from holdfast.planning.plans.plan_continuation import continuation_change, replaced_tasks
from holdfast.planning.plans.plan_graph import (
    dependents,
    find_cycle,
    known_dependencies,
    plan_extent,
)
from tests.support.jobs.plan_builders import final_task, lookup_task, plan


def with_status(given: Plan, **statuses: TaskStatus) -> Plan:
    tasks = (task.with_status(statuses.get(task.id, task.status)) for task in given.tasks)
    return Plan(tasks=tuple(tasks))


@pytest.mark.conformance("KPI-12")
def test_an_independent_branch_survives() -> None:
    before = with_status(
        plan(
            lookup_task("T1"),
            lookup_task("T2", "T1"),
            lookup_task("T5"),
            lookup_task("T6", "T5"),
            final_task("T7", "T2", "T6"),
        ),
        T1=TaskStatus.DONE,
        T2=TaskStatus.FAILED,
        T5=TaskStatus.RUNNING,
    )
    continuation = plan(lookup_task("T2a", "T1"), final_task("T7a", "T2a", "T6"))

    change = continuation_change(before, "T2", continuation, ReplanScope.DEPENDENTS)

    assert change.superseded == ("T2", "T7")
    assert change.added_ids == ("T2a", "T7a")
    kept = {t.id: t.status for t in change.apply_to(before).tasks if t.id in ("T1", "T5", "T6")}
    assert kept == {
        "T1": TaskStatus.DONE,
        "T5": TaskStatus.RUNNING,
        "T6": TaskStatus.PENDING,
    }


@pytest.mark.conformance("HZN-03")
def test_replanning_all_that_remains_keeps_what_runs_and_what_is_done() -> None:
    before = with_status(
        plan(
            lookup_task("T1"),
            lookup_task("T2"),
            lookup_task("T3"),
            lookup_task("T4"),
            final_task("T5", "T1", "T4"),
        ),
        T1=TaskStatus.DONE,
        T2=TaskStatus.FAILED,
        T3=TaskStatus.RUNNING,
    )

    assert replaced_tasks(before, "T2", ReplanScope.REMAINING) == ("T2", "T4", "T5")


@pytest.mark.conformance("HZN-05")
def test_depth_and_breadth_are_those_of_the_paper() -> None:
    # Find, Find, Relate, SelectBetween: four tasks on a longest path of three.
    four = plan(
        lookup_task("T1"), lookup_task("T2"), lookup_task("T3", "T2"), final_task("T4", "T1", "T3")
    )

    assert plan_extent(four).model_dump() == {"depth": 3, "breadth": 1.333}
    assert plan_extent(plan()).model_dump() == {"depth": 0, "breadth": 0.0}


@st.composite
def graphs(draw: st.DrawFn) -> Plan:
    size = draw(st.integers(2, 9))
    tasks = []
    for n in range(size):
        earlier = [f"T{m}" for m in range(n)]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
        tasks.append(lookup_task(f"T{n}", *needs))
    return plan(*tasks)


@given(graphs(), st.data())
def test_merging_keeps_the_graph_acyclic_and_never_touches_finished_work(
    before: Plan, data: st.DataObject
) -> None:
    failed = data.draw(st.sampled_from([task.id for task in before.tasks]))
    upstream = (
        {t.id for t in before.tasks} - dependents(known_dependencies(before), failed) - {failed}
    )
    done = {
        name: TaskStatus.DONE
        for name in upstream
        if all(need in upstream for need in before.by_id[name].depends_on)
        and data.draw(st.booleans())
    }
    before = with_status(before, **done, **{failed: TaskStatus.FAILED})
    scope = data.draw(st.sampled_from(ReplanScope))

    change = continuation_change(
        before, failed, plan(lookup_task("N1", *done), final_task("N2", "N1")), scope
    )

    after = change.apply_to(before)
    assert not find_cycle(known_dependencies(after))
    assert set(done).isdisjoint(change.superseded)
    for name in done:
        assert after.by_id[name] == before.by_id[name]
