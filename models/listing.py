"""The plan and the memory in the seed's own form (KPI-Chain, Listings 1 and 2)."""

from collections.abc import Iterable
from typing import Any

from pydantic import JsonValue

from models.plan import Expected, Input, Plan, Task, TaskKind, TaskStatus
from models.text import inert

_KINDS = {TaskKind.TOOL: "Tool call", TaskKind.REASONING: "Reasoning", TaskKind.AGENT: "Agent"}


def to_listing(task: Task) -> dict[str, JsonValue]:
    """The task under the names of Listing 1, with our own fields behind them."""
    content = task.model_dump(mode="json")
    return {
        "task_id": task.id,
        "task_description": task.description,
        "task_type": _KINDS[task.kind],
        "tool_name": task.tool,
        "input_parameters": content["inputs"],
        "expected_output_entities": content["expects"],
        "dependencies": content["depends_on"],
        "execution_status": task.status.value,
        "execution_result": content["result"],
        "criteria": task.criteria,
        "priority": task.priority,
        "include_context": task.include_context,
        **{name: content[name] for name in ("agent", "parent") if content[name]},
    }


def from_listing(listing: dict[str, Any]) -> Task:
    """The task that a Listing 1 entry stands for.

    Raises:
        KeyError: a field of Listing 1 is missing.
        pydantic.ValidationError: a field has not its type.
    """
    kinds = {name: kind for kind, name in _KINDS.items()}
    return Task(
        id=listing["task_id"],
        kind=kinds.get(listing["task_type"], listing["task_type"]),
        description=listing["task_description"],
        tool=listing["tool_name"],
        inputs=tuple(Input.model_validate(each) for each in listing["input_parameters"]),
        expects=tuple(
            Expected.model_validate(each) for each in listing["expected_output_entities"]
        ),
        depends_on=tuple(listing["dependencies"]),
        status=TaskStatus(listing["execution_status"]),
        result=listing["execution_result"],
        criteria=listing.get("criteria", ""),
        priority=listing.get("priority", 5),
        include_context=listing.get("include_context", False),
        agent=listing.get("agent", ""),
        parent=listing.get("parent", ""),
    )


def memory_document(plan: Plan) -> dict[str, JsonValue]:
    """Listing 2: the entities by task, and `current_plan`, whose results refer to them."""
    found: dict[str, JsonValue] = {task.id: dict(task.result) for task in plan.tasks if task.result}
    found["current_plan"] = {"tasks": [_with_references(task) for task in plan.tasks]}
    return found


def plan_for_prompt(tasks: Iterable[Task]) -> tuple[dict[str, JsonValue], ...]:
    """The plan as the replanner sees it: every task, its status, and the values it found."""
    return tuple(_shown(task) for task in tasks)


def _shown(task: Task) -> dict[str, JsonValue]:
    return {**to_listing(task), "execution_result": inert(dict(task.result))}


def _with_references(task: Task) -> dict[str, JsonValue]:
    refs: dict[str, JsonValue] = {name: f"<ref:{task.id}.{name}>" for name in task.result}
    return {**to_listing(task), "execution_result": refs}
