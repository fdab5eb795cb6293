"""Tests of what an agent's prompt shows of lists that grow with each attempt."""

from datetime import UTC, datetime

from pydantic import JsonValue

from holdfast.models.jobs.activity_orders import AgentTaskOrder
from holdfast.models.plans.research_plan import Task, TaskInput, TaskKind, TaskStatus
from holdfast.models.strategies.agent_profiles import AgentProfile, AgentTier
from holdfast.models.tasks.agent_role_task import AgentRoleTask
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.planning.context.agent_context import AgentContext, build_agent_context
from tests.support.jobs.plan_builders import agent_task

_WHEN = datetime(2026, 11, 24, tzinfo=UTC)
_AGENT = AgentProfile(name="rag", description="reads", tier=next(iter(AgentTier)))
_LONG = "x" * 3_000


def stored(task: Task, position: int, attempt: int = 1) -> StoredTask:
    return StoredTask(
        task=task,
        position=position,
        attempt=attempt,
        root=task.id,
        added_by_change=0,
        finished_at=_WHEN,
    )


def found_by(task_id: str, **values: JsonValue) -> Task:
    task = agent_task(task_id, about=f"What is {task_id}?")
    return task.model_copy(update={"status": TaskStatus.DONE, "result": values})


def replaced_step(number: int, parent: str) -> Task:
    return Task(
        id=f"{parent}.{number}",
        kind=TaskKind.TOOL,
        description="look it up",
        tool="lab.search",
        inputs=(TaskInput(name="query", value=f"query {number} {'y' * 500}"),),
        parent=parent,
        status=TaskStatus.SUPERSEDED,
    )


def context(*others: StoredTask, attempt: int = 1, result: dict[str, JsonValue]) -> AgentContext:
    mine = agent_task("T9", *(each.task.id for each in others if not each.task.parent), about="?")
    task = mine.model_copy(update={"result": result, "include_context": True})
    every = [*others, stored(task, 99, attempt)]
    return build_agent_context(every, "T9", _AGENT, ())


def told(view: AgentContext) -> AgentRoleTask:
    return view.told(AgentTaskOrder.model_construct(must_end=""))  # type: ignore[call-arg]


def test_given_values_are_shown_in_order_as_far_as_there_is_room() -> None:
    others = [stored(found_by(f"T{n}", value=_LONG), n) for n in range(1, 7)]

    task = told(context(*others, result={}))

    assert [each.name for each in task.given] == ["T1.value", "T2.value", "T3.value"]
    assert task.left_out == "3 of `given`"


def test_one_long_value_does_not_take_the_room_of_the_others() -> None:
    others = [stored(found_by("T1", page="x" * 90_000), 1), stored(found_by("T2", year=1911), 2)]

    task = told(context(*others, result={}))

    assert [each.name for each in task.given] == ["T1.page", "T2.year"]
    assert task.given[0].value == "x" * 3_999 + "…"
    assert not task.left_out


def test_the_newest_replaced_steps_are_shown() -> None:
    steps = [stored(replaced_step(n, "T9"), n) for n in range(1, 31)]

    task = told(context(*steps, result={}))

    assert task.earlier[-1].id == "T9.30"
    assert 5 <= len(task.earlier) <= 12
    assert task.left_out == f"{30 - len(task.earlier)} of `earlier`"


def test_a_further_attempt_sees_what_was_found_before_within_its_own_room() -> None:
    others = [stored(found_by(f"T{n}", value=_LONG), n) for n in range(1, 7)]

    task = told(context(*others, attempt=2, result={"city": "Malmo"}))

    assert task.given[-1].name == "T9.city"
    assert task.left_out == "3 of `given`"


def test_values_whose_evidence_was_retracted_are_no_findings_of_an_earlier_attempt() -> None:
    step = replaced_step(1, "T9").model_copy(update={"result": {"city": "Malmo", "year": 1871}})

    view = context(stored(step, 1), attempt=2, result={})

    assert [each.name for each in view.bounded_found([("T9.1", "year")]).shown] == ["city"]
