"""A continuation replaces the failed task and its dependents, nothing else (KPI-12)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.plan import Plan, TaskStatus
from models.strategy import ReplanScope
from planning.graph import cycle, dependents, edges, extent
from planning.merge import continue_plan, replaced_by, roots_of
from tests.support.plans import final, plan, tool


def with_status(given: Plan, **statuses: TaskStatus) -> Plan:
    tasks = (
        task.model_copy(update={"status": statuses.get(task.id, task.status)})
        for task in given.tasks
    )
    return Plan(tasks=tuple(tasks))


@pytest.mark.conformance("KPI-12")
def test_an_independent_branch_survives() -> None:
    before = with_status(
        plan(tool("T1"), tool("T2", "T1"), tool("T5"), tool("T6", "T5"), final("T7", "T2", "T6")),
        T1=TaskStatus.DONE,
        T2=TaskStatus.FAILED,
        T5=TaskStatus.RUNNING,
    )
    continuation = plan(tool("T2a", "T1"), final("T7a", "T2a", "T6"))

    merged = continue_plan(before, "T2", continuation, ReplanScope.DEPENDENTS)

    assert merged.superseded == ("T2", "T7")
    assert merged.added == ("T2a", "T7a")
    kept = {t.id: t.status for t in merged.plan.tasks if t.id in ("T1", "T5", "T6")}
    assert kept == {
        "T1": TaskStatus.DONE,
        "T5": TaskStatus.RUNNING,
        "T6": TaskStatus.PENDING,
    }


@pytest.mark.conformance("HZN-03")
def test_replanning_all_that_remains_keeps_what_runs_and_what_is_done() -> None:
    before = with_status(
        plan(tool("T1"), tool("T2"), tool("T3"), tool("T4"), final("T5", "T1", "T4")),
        T1=TaskStatus.DONE,
        T2=TaskStatus.FAILED,
        T3=TaskStatus.RUNNING,
    )

    assert replaced_by(before, "T2", ReplanScope.REMAINING) == ("T2", "T4", "T5")


def test_a_lineage_counts_for_all_its_successors() -> None:
    roots = roots_of(plan(tool("T2b"), final("T3b", "T2b")), "T2a", {"T2a": "T2"})

    assert roots == {"T2b": "T2", "T3b": "T2"}


@pytest.mark.conformance("HZN-05")
def test_depth_and_breadth_are_those_of_the_paper() -> None:
    # Find, Find, Relate, SelectBetween: four nodes on a longest path of three.
    four = plan(tool("T1"), tool("T2"), tool("T3", "T2"), final("T4", "T1", "T3"))

    assert extent(four).model_dump() == {"depth": 3, "breadth": 1.333}
    assert extent(plan()).model_dump() == {"depth": 0, "breadth": 0.0}


@st.composite
def graphs(draw: st.DrawFn) -> Plan:
    size = draw(st.integers(2, 9))
    tasks = []
    for n in range(size):
        earlier = [f"T{m}" for m in range(n)]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
        tasks.append(tool(f"T{n}", *needs))
    return plan(*tasks)


@given(graphs(), st.data())
def test_merging_keeps_the_graph_acyclic_and_never_touches_finished_work(
    before: Plan, data: st.DataObject
) -> None:
    failed = data.draw(st.sampled_from([task.id for task in before.tasks]))
    upstream = {t.id for t in before.tasks} - dependents(edges(before), failed) - {failed}
    done = {
        name: TaskStatus.DONE
        for name in upstream
        if all(need in upstream for need in before.by_id[name].depends_on)
        and data.draw(st.booleans())
    }
    before = with_status(before, **done, **{failed: TaskStatus.FAILED})
    scope = data.draw(st.sampled_from(ReplanScope))

    merged = continue_plan(before, failed, plan(tool("N1", *done), final("N2", "N1")), scope)

    assert not cycle(edges(merged.plan))
    assert set(done).isdisjoint(merged.superseded)
    for name in done:
        assert merged.plan.by_id[name] == before.by_id[name]
