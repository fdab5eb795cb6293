"""Fresh ids for a plan that stands beside one that was set aside: T1 becomes T1a, then T1b."""

import re
from collections.abc import Collection, Mapping
from itertools import chain, product
from string import ascii_lowercase

from pydantic import JsonValue

from models.plan import Input, Plan, Task
from planning.references import TAG

_HEAD = re.compile(r"^(\$\.?)?(?:\[(['\"])([^'\"]+)\2\]|(\w+))")


def with_fresh_ids(plan: Plan, used: Collection[str]) -> Plan:
    """The plan with every id that is taken replaced, in dependencies and references too."""
    taken = {*used, *(task.id for task in plan.tasks if task.id not in used)}
    names: dict[str, str] = {}
    for task in plan.tasks:
        if task.id in used:
            names[task.id] = _fresh(task.id, taken)
            taken.add(names[task.id])
    return Plan(tasks=tuple(_renamed(task, names) for task in plan.tasks)) if names else plan


def _fresh(name: str, taken: Collection[str]) -> str:
    letters = (product(ascii_lowercase, repeat=length) for length in (1, 2, 3))
    tried = (name + "".join(each) for each in chain.from_iterable(letters))
    return next(each for each in tried if each not in taken)


def _renamed(task: Task, names: Mapping[str, str]) -> Task:
    inputs = tuple(_repointed(given, names) for given in task.inputs)
    needs = tuple(names.get(need, need) for need in task.depends_on)
    update = {"id": names.get(task.id, task.id), "depends_on": needs, "inputs": inputs}
    return task.model_copy(update=update)


def _repointed(given: Input, names: Mapping[str, str]) -> Input:
    return given.model_copy(update={"value": _value(given.value, names)})


def _value(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    if isinstance(value, str):
        return TAG.sub(lambda tag: f"<JSON_PATH>{_path(tag.group(1), names)}</JSON_PATH>", value)
    if isinstance(value, dict):
        return {name: _value(each, names) for name, each in value.items()}
    if isinstance(value, list):
        return [_value(each, names) for each in value]
    return value


def _path(path: str, names: Mapping[str, str]) -> str:
    head = _HEAD.match(path)
    if head is None:
        return path
    part = 3 if head.group(3) else 4
    start, end = head.span(part)
    return path[:start] + names.get(path[start:end], path[start:end]) + path[end:]
