"""What rests on what a task found: later tasks, and the agents whose steps they are."""

from models.plan import Plan, Task, TaskKind, TaskStatus
from planning.resting import owner_of, resting_on
from tests.support.plans import final, plan, tool


def nodes() -> Plan:
    agent = Task(id="T1", kind=TaskKind.AGENT, description="find", agent="web")
    step = tool("T1.1", parent="T1")
    later = agent.model_copy(update={"id": "T2", "depends_on": ("T1",)})
    return plan(agent, step, later, tool("T2.1", parent="T2"), tool("T3"), final("T4", "T2"))


def test_on_a_step_rest_its_agent_and_what_waits_for_that() -> None:
    assert resting_on(nodes(), "T1.1") == ("T1", "T2", "T4")
    assert resting_on(nodes(), "T3") == ()


def test_what_was_replaced_is_not_named() -> None:
    old = tool("T2", "T1", status=TaskStatus.SUPERSEDED)

    assert resting_on(plan(tool("T1"), old, final("T3", "T2")), "T1") == ("T3",)


def test_a_step_belongs_to_its_agent() -> None:
    assert [owner_of(nodes(), name) for name in ("T1.1", "T1", "T9")] == ["T1", "T1", "T9"]
