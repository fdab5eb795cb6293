"""A plan as somebody edited it: read from YAML or JSON, and compared with the one there was."""

from collections.abc import Iterable
from typing import Any

import yaml
from pydantic import JsonValue, ValidationError

from models.base import Frozen
from models.errors import BadInput
from models.listing import from_listing, to_listing
from models.plan import Plan, Task, TaskStatus

_OF_THE_ENGINE = ("execution_status", "execution_result", "parent")
_DEFAULTS: dict[str, Any] = {
    "tool_name": "",
    "input_parameters": [],
    "dependencies": [],
    "execution_status": TaskStatus.PENDING.value,
    "execution_result": {},
}
_COMPARED = (
    "kind", "description", "criteria", "tool", "agent", "inputs", "expects", "depends_on",
    "priority", "include_context",
)  # fmt: skip


class FieldEdit(Frozen):
    """One field of a task, as it was and as it is to be."""

    task: str
    field: str
    old: JsonValue
    new: JsonValue


class Edit(Frozen):
    """The plan after an edit, with what came, what went and what is another now."""

    plan: Plan
    added: tuple[str, ...]
    superseded: tuple[str, ...]
    changed: tuple[FieldEdit, ...]


def editable(plan: Plan) -> str:
    """The live tasks of the plan as YAML, without what only the engine writes."""
    listings = [
        {name: value for name, value in to_listing(task).items() if name not in _OF_THE_ENGINE}
        for task in plan.live
    ]
    return yaml.safe_dump({"tasks": listings}, sort_keys=False, allow_unicode=True, width=100)


def read_plan(text: str) -> Plan:
    """The plan in YAML or JSON, in the form of Listing 1.

    Raises:
        BadInput: it is not of that form; the message names each fault with its task.
    """
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadInput(f"the plan is neither YAML nor JSON: {_one_line(error)}") from error
    listings = content.get("tasks") if isinstance(content, dict) else content
    if not isinstance(listings, list) or not listings:
        raise BadInput("the plan has no tasks; write `tasks:` and a list of them")
    faults: list[str] = []
    tasks = [_read_task(each, number, faults) for number, each in enumerate(listings, start=1)]
    if faults:
        raise BadInput("; ".join(faults))
    return Plan(tasks=tuple(task for task in tasks if task is not None))


def edited(stored: Plan, wanted: Plan) -> Edit:
    """What turns the stored plan, of which nothing has run, into the wanted one."""
    before = {task.id: task for task in stored.live}
    after = wanted.by_id
    gone = tuple(name for name in before if name not in after)
    kept = (_after(task, after) for task in stored.tasks)
    added = tuple(task.id for task in wanted.tasks if task.id not in before)
    new = tuple(after[name] for name in added)
    pairs = [(before[name], task) for name, task in after.items() if name in before]
    return Edit(
        plan=Plan(tasks=(*kept, *new)),
        added=added,
        superseded=gone,
        changed=tuple(change for pair in pairs for change in _changes(*pair)),
    )


def _after(task: Task, wanted: dict[str, Task]) -> Task:
    if task.id in wanted:
        return wanted[task.id]
    return task.model_copy(update={"status": TaskStatus.SUPERSEDED})


def _changes(old: Task, new: Task) -> Iterable[FieldEdit]:
    was, will_be = old.model_dump(mode="json"), new.model_dump(mode="json")
    for name in _COMPARED:
        if was[name] != will_be[name]:
            yield FieldEdit(task=old.id, field=name, old=was[name], new=will_be[name])


def _read_task(listing: object, number: int, faults: list[str]) -> Task | None:
    if not isinstance(listing, dict):
        faults.append(f"task {number} is not a mapping of names to values")
        return None
    name = f"task {str(listing.get('task_id', number))!r}"
    try:
        task = from_listing({**_DEFAULTS, **listing})
    except KeyError as error:
        faults.append(f"{name}: {error.args[0]} is missing")
    except ValidationError as error:
        faults += [f"{name}: {_place(each)}{each['msg']}" for each in error.errors()]
    except (TypeError, ValueError) as error:
        faults.append(f"{name}: {_one_line(error)}")
    else:
        return _as_new(task)
    return None


def _as_new(task: Task) -> Task:
    """Not run yet; and a reference is known by its mark, so that nobody has to flag it."""
    inputs = tuple(
        each.model_copy(update={"is_reference": "<JSON_PATH>" in str(each.value)})
        for each in task.inputs
    )
    fresh = {"status": TaskStatus.PENDING, "result": {}, "inputs": inputs, "parent": ""}
    return task.model_copy(update=fresh)


def _place(fault: Any) -> str:  # noqa: ANN401 - pydantic's description of a fault
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: " if where else ""


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
