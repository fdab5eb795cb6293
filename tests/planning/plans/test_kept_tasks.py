"""Tests for the tasks that a continuation keeps instead of writing them again."""

import pytest

from holdfast.models.plans.research_plan import Plan, Task, TaskStatus
from holdfast.planning.plans.kept_tasks import KeptTasks, repeated_failures
from tests.support.jobs.plan_builders import agent_task, final_task, lookup_task, plan


def reference(task_id: str) -> str:
    return f"<JSON_PATH>{task_id}.value</JSON_PATH>"


def failed_plan() -> Plan:
    """T2 failed; T3 takes its value, T4 takes that of T3, T9 those of T1 and T4."""
    done = lookup_task("T1", query="a").with_status(TaskStatus.DONE)
    return plan(
        done,
        lookup_task("T2", "T1", query=f"b {reference('T1')}").with_status(TaskStatus.FAILED),
        lookup_task("T3", "T2", query=f"c {reference('T2')}"),
        lookup_task("T4", "T3", query=f"d {reference('T3')}"),
        final_task("T9", "T1", "T4"),
    )


KEPT = KeptTasks(failed_plan(), ("T2", "T3", "T4", "T9"), "T2")
OTHER = lookup_task("T2a", "T1", query="another way")


def queries(tasks: tuple[Task, ...]) -> list[object]:
    return [task.inputs[0].value for task in tasks if task.tool]


def test_kept_tasks_get_new_ids_and_take_what_the_new_tasks_yield() -> None:
    whole = KEPT.completed(plan(OTHER), ["T3", "T4", "T9"])

    assert [task.id for task in whole.tasks] == ["T2a", "T3a", "T4a", "T9a"]
    assert queries(whole.tasks) == ["another way", f"c {reference('T2a')}", f"d {reference('T3a')}"]
    assert [task.depends_on for task in whole.tasks[1:]] == [("T2a",), ("T3a",), ("T1", "T4a")]
    assert {task.status for task in whole.tasks} == {TaskStatus.PENDING}
    assert KEPT.faults(plan(OTHER), ["T3", "T4", "T9"]) == []


def test_a_task_is_not_kept_without_what_it_takes() -> None:
    (fault,) = KEPT.faults(plan(final_task("T8", "T1")), ["T3"])

    assert fault.startswith("keep: T3 takes 'value' from T2, and none of your tasks yields it")


@pytest.mark.parametrize("name", ["T1", "T2", "T7"])
def test_only_waiting_tasks_that_are_replaced_can_be_kept(name: str) -> None:
    (fault,) = KEPT.faults(plan(OTHER), [name])

    assert fault == f"keep: {name} cannot be kept; what can be kept: T3, T4, T9"


def test_a_kept_sub_question_depends_on_what_replaces_the_failed_one() -> None:
    first = agent_task("T1", about="Who?").with_status(TaskStatus.FAILED)
    kept = KeptTasks(plan(first, agent_task("T2", "T1", about="When?")), ("T1", "T2"), "T1")

    whole = kept.completed(plan(agent_task("T1a", about="Which person?")), ["T2"])

    assert [(task.id, task.depends_on) for task in whole.tasks] == [("T1a", ()), ("T2a", ("T1a",))]
    (fault,) = kept.faults(plan(agent_task("T5", about="Who else?")), ["T2"])
    assert fault == "keep: T2 depends on T1, which none of your tasks replaces"


@pytest.mark.parametrize("name", ["T1b", "T1aa"])
def test_a_sub_question_is_kept_when_a_continuation_fails_as_well(name: str) -> None:
    """T1a took the place of T1 and failed: a replanner is told to go on with T1b."""
    first = agent_task("T1a", about="Who?").with_status(TaskStatus.FAILED)
    kept = KeptTasks(plan(first, agent_task("T2a", "T1a", about="When?")), ("T1a", "T2a"), "T1a")
    new = plan(agent_task(name, about="Which person?"))

    assert kept.faults(new, ["T2a"]) == []
    assert kept.completed(new, ["T2a"]).tasks[1].depends_on == (name,)


def test_what_failed_is_not_done_again_as_it_was() -> None:
    tried = [failed_plan().by_id["T2"]]

    (fault,) = repeated_failures(plan(tried[0].with_id("T2a")), tried)

    assert fault.startswith("T2a is the same as T2, which failed")
    assert repeated_failures(plan(OTHER), tried) == []
