"""Give the tasks of a new plan ids that no earlier task has: T1 becomes T1a, then T1b."""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import chain, product
from string import ascii_lowercase

from holdfast.models.plans.research_plan import Plan, Task, TaskInput
from holdfast.models.text.json_leaves import map_texts
from holdfast.models.text.reference_marks import reference_to, replace_references

_HEAD = re.compile(r"^(\$\.?)?(?:\[(['\"])([^'\"]+)\2\]|(\w+))")


def with_fresh_ids(plan: Plan, used: Collection[str]) -> Plan:
    """Return the plan with each used id replaced, also in dependencies and references."""
    ids = [task.id for task in plan.tasks]
    names = fresh_names((each for each in ids if each in used), {*used, *ids})
    return Plan(tasks=tuple(_rename_task(task, names) for task in plan.tasks)) if names else plan


def fresh_names(ids: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """A new name for each of the ids, by the id; no new name is taken, or given twice."""
    used = set(taken)
    names: dict[str, str] = {}
    for each in ids:
        names[each] = unused_id(each, used)
        used.add(names[each])
    return names


def unused_id(name: str, taken: Collection[str]) -> str:
    """The name with the first letters that make it new: T2a, then T2b."""
    letters = (product(ascii_lowercase, repeat=length) for length in (1, 2, 3))
    tried = (name + "".join(each) for each in chain.from_iterable(letters))
    return next(each for each in tried if each not in taken)


def _rename_task(task: Task, names: Mapping[str, str]) -> Task:
    inputs = tuple(rename_references(given, names) for given in task.inputs)
    needs = (names.get(need, need) for need in task.depends_on)
    renamed = task.with_id(names.get(task.id, task.id))
    return renamed.with_dependencies(needs).with_inputs(inputs)


def rename_references(given: TaskInput, names: Mapping[str, str]) -> TaskInput:
    """The input with its references to renamed tasks under their new ids."""
    value = map_texts(given.value, lambda text: rename_in_text(text, names))
    return given.with_value(value)


def rename_in_text(text: str, names: Mapping[str, str]) -> str:
    """The text with its references to renamed tasks under their new ids."""
    return replace_references(text, lambda path: reference_to(_rename_in_path(path, names)))


def _rename_in_path(path: str, names: Mapping[str, str]) -> str:
    head = _HEAD.match(path)
    if head is None:
        return path
    part = 3 if head.group(3) else 4
    start, end = head.span(part)
    return path[:start] + names.get(path[start:end], path[start:end]) + path[end:]
