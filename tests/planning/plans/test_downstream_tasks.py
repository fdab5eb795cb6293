"""Tests for downstream tasks: later tasks that used a task's results, and the agents whose steps
they are."""

from holdfast.models.plans.research_plan import Plan, Task, TaskKind, TaskStatus
from holdfast.planning.plans.downstream_tasks import downstream_tasks, owning_task
from tests.support.jobs.plan_builders import final_task, lookup_task, plan


def agent_plan() -> Plan:
    agent = Task(id="T1", kind=TaskKind.AGENT, description="find", agent="web")
    step = lookup_task("T1.1", parent="T1")
    later = agent.model_copy(update={"id": "T2", "depends_on": ("T1",)})
    return plan(
        agent,
        step,
        later,
        lookup_task("T2.1", parent="T2"),
        lookup_task("T3"),
        final_task("T4", "T2"),
    )


def test_on_a_step_rest_its_agent_and_what_waits_for_that() -> None:
    assert downstream_tasks(agent_plan(), "T1.1") == ("T1", "T2", "T4")
    assert downstream_tasks(agent_plan(), "T3") == ()


def test_what_was_replaced_is_not_named() -> None:
    old = lookup_task("T2", "T1", status=TaskStatus.SUPERSEDED)

    assert downstream_tasks(plan(lookup_task("T1"), old, final_task("T3", "T2")), "T1") == ("T3",)


def test_a_step_belongs_to_its_agent() -> None:
    assert [owning_task(agent_plan(), name) for name in ("T1.1", "T1", "T9")] == ["T1", "T1", "T9"]
