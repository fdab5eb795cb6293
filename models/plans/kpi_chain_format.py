"""Convert plans and results to and from the JSON format of the KPI-Chain paper."""

from typing import Any

from pydantic import JsonValue

from holdfast.models.plans.research_plan import (
    ExpectedEntity,
    Plan,
    Task,
    TaskInput,
    TaskKind,
    TaskStatus,
)

_KIND_NAMES = {TaskKind.TOOL: "Tool call", TaskKind.REASONING: "Reasoning", TaskKind.AGENT: "Agent"}


def to_listing(task: Task) -> dict[str, JsonValue]:
    """Return the task with the field names of Listing 1, followed by our own fields."""
    content = task.model_dump(mode="json")
    return {
        "task_id": task.id,
        "task_description": task.description,
        "task_type": _KIND_NAMES[task.kind],
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
    """Return the task of a Listing 1 entry.

    Raises:
        KeyError: a field of Listing 1 is missing.
        pydantic.ValidationError: a field has the wrong type.
    """
    kinds = {name: kind for kind, name in _KIND_NAMES.items()}
    return Task(
        id=listing["task_id"],
        kind=kinds.get(listing["task_type"], listing["task_type"]),
        description=listing["task_description"],
        tool=listing["tool_name"],
        inputs=tuple(TaskInput.model_validate(each) for each in listing["input_parameters"]),
        expects=tuple(
            ExpectedEntity.model_validate(each) for each in listing["expected_output_entities"]
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
    """Return Listing 2: the entities by task, and `current_plan`, whose results refer to them."""
    found: dict[str, JsonValue] = {task.id: dict(task.result) for task in plan.tasks if task.result}
    found["current_plan"] = {"tasks": [_with_references(task) for task in plan.tasks]}
    return found


def _with_references(task: Task) -> dict[str, JsonValue]:
    refs: dict[str, JsonValue] = {name: f"<ref:{task.id}.{name}>" for name in task.result}
    return {**to_listing(task), "execution_result": refs}
