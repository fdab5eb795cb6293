"""Read a plan that a person edited, and compare the edited plan with the stored one."""

import json
from collections.abc import Iterable
from typing import Any

from pydantic import JsonValue, ValidationError

from holdfast.models.errors import BadInput
from holdfast.models.plans.kpi_chain_format import from_listing, to_listing
from holdfast.models.plans.plan_change import FieldChange, PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan, Task, TaskStatus
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.planning.text.strict_json import load_strict_json
from holdfast.planning.text.strict_yaml import dump_strict_yaml, load_strict_yaml

MAX_PLAN_CHARS = 200_000
_SHOWN_ID_CHARS = 80
"""More than an id may have; each fault of a task quotes its id."""
_ENGINE_FIELDS = ("execution_status", "execution_result", "parent")
_DEFAULTS: dict[str, Any] = {
    "tool_name": "",
    "input_parameters": [],
    "dependencies": [],
    "execution_status": TaskStatus.PENDING.value,
    "execution_result": {},
}
_COMPARED = (
    "kind",
    "description",
    "criteria",
    "tool",
    "agent",
    "inputs",
    "expects",
    "depends_on",
    "priority",
    "include_context",
)


def plan_as_yaml(plan: Plan) -> str:
    """The tasks of the plan that an edit may change as YAML, without what the engine writes."""
    listings: list[JsonValue] = [
        {name: value for name, value in to_listing(task).items() if name not in _ENGINE_FIELDS}
        for task in editable_plan(plan).tasks
    ]
    return dump_strict_yaml({"tasks": listings})


def editable_plan(plan: Plan) -> Plan:
    """Return the tasks of a plan that an edit may change, as if none had begun.

    The steps of agents are left out, and so is the opening loop.
    """
    own = (task for task in own_tasks(plan) if not task.is_opening)
    pending = TaskStatus.PENDING
    return Plan(tasks=tuple(task.with_status(pending).without_result() for task in own))


def own_tasks(plan: Plan) -> tuple[Task, ...]:
    """Return the tasks of the plan without steps; a cancelled task may still run in a fork."""
    return tuple(
        task for task in plan.tasks if not task.parent and task.status is not TaskStatus.SUPERSEDED
    )


def parse_plan(text: str) -> Plan:
    """The plan in YAML or JSON, in the form of Listing 1.

    Raises:
        BadInput: it is not of that form; the message names each fault with its task.
    """
    if len(text) > MAX_PLAN_CHARS:
        raise BadInput(f"the plan has {len(text):,} characters; the limit is {MAX_PLAN_CHARS:,}")
    try:
        content = _content(text)
    except ValueError as error:
        raise BadInput(f"the plan is neither YAML nor JSON: {error}") from error
    listings = content.get("tasks") if isinstance(content, dict) else content
    if not isinstance(listings, list) or not listings:
        raise BadInput("the plan has no tasks; write `tasks:` and a list of them")
    faults: list[str] = []
    tasks = [_read_task(each, number, faults) for number, each in enumerate(listings, start=1)]
    if faults:
        raise BadInput("; ".join(faults))
    return Plan(tasks=tuple(task for task in tasks if task is not None))


def quoted_id(task_id: str) -> str:
    """The id of a task as a fault of an edited plan quotes it."""
    return repr(task_id[:_SHOWN_ID_CHARS])


def edit_change(stored: Plan, wanted: Plan, explanation: str = "") -> PlanChange:
    """Return the change that turns the stored plan, of which nothing has run, into `wanted`."""
    before = {task.id: task for task in _not_begun(stored)}
    pairs = [(before[task.id], task) for task in wanted.tasks if task.id in before]
    return PlanChange(
        cause=PlanChangeCause.EDITED,
        added=tuple(task for task in wanted.tasks if task.id not in before),
        superseded=tuple(name for name in before if name not in wanted.by_id),
        changed=tuple(change for pair in pairs for change in _field_changes(*pair)),
        explanation=explanation,
    )


def discard_change(plan: Plan, explanation: str) -> PlanChange:
    """Return the change that supersedes a whole plan of which nothing has run.

    An opening loop that ran before the plan was made stays.
    """
    return PlanChange(
        cause=PlanChangeCause.SET_ASIDE,
        superseded=tuple(task.id for task in _not_begun(plan)),
        explanation=explanation,
    )


def _not_begun(plan: Plan) -> list[Task]:
    """The tasks of a plan that waits for approval; not the opening loop, which has ended."""
    return [task for task in plan.live if task.status is TaskStatus.PENDING]


def _field_changes(old: Task, new: Task) -> Iterable[FieldChange]:
    before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
    for name in _COMPARED:
        if before[name] != after[name]:
            yield FieldChange(task=old.id, field=name, old=before[name], new=after[name])


def _content(text: str) -> object:
    """The value of the text; read as YAML, JSON's 1e-05 would be a text, and U+0085 a blank."""
    try:
        return load_strict_json(text)
    except json.JSONDecodeError:
        return load_strict_yaml(text)


def _read_task(listing: object, number: int, faults: list[str]) -> Task | None:
    if not isinstance(listing, dict):
        faults.append(f"task {number} is not a mapping of names to values")
        return None
    name = f"task {quoted_id(str(listing.get('task_id', number)))}"
    try:
        task = from_listing({**_DEFAULTS, **listing})
    except KeyError as error:
        faults.append(f"{name}: {error.args[0]} is missing")
    except ValidationError as error:
        faults += [f"{name}: {_place(each)}{each['msg']}" for each in error.errors()]
    except (TypeError, ValueError) as error:
        faults.append(f"{name}: {_one_line(error)}")
    else:
        return _reset_task(task)
    return None


def _reset_task(task: Task) -> Task:
    """Not run yet; and a reference is known by its mark, so that nobody has to flag it."""
    inputs = tuple(each.with_reference_flag() for each in task.inputs)
    return task.with_status(TaskStatus.PENDING).without_result().with_parent("").with_inputs(inputs)


def _place(fault: Any) -> str:  # noqa: ANN401 - pydantic's description of a fault
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: " if where else ""


def _one_line(error: Exception) -> str:
    return cut_message(" ".join(str(error).split()), MessageLimit.FAULT)
