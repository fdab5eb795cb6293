"""Complete a continuation with the waiting tasks that it keeps, under new ids."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from holdfast.models.plans.research_plan import Plan, Task
from holdfast.planning.plans.entity_references import references_in
from holdfast.planning.plans.fresh_task_ids import fresh_names, rename_references

_CONTINUED = re.compile(r"(.*\d)[A-Za-z]{1,3}", re.DOTALL)


@dataclass(frozen=True)
class KeptTasks:
    """The tasks of a plan that a continuation may keep instead of writing them again."""

    plan: Plan
    replaced: tuple[str, ...]
    """Everything that the continuation replaces, the failed task among it."""
    failed: str

    def completed(self, continuation: Plan, keep: Sequence[str]) -> Plan:
        """The continuation with the kept tasks, which take values from their new sources."""
        if not keep:
            return continuation
        names = self._new_ids(continuation, keep)
        gone = set(self.replaced) - set(names)
        kept = [_moved(self.plan.by_id[each], names, gone, continuation.tasks) for each in names]
        return Plan(tasks=(*continuation.tasks, *kept))

    def faults(self, continuation: Plan, keep: Sequence[str]) -> list[str]:
        """Why the tasks cannot be kept, in words that the author can act on."""
        odd = [each for each in keep if each not in self.replaced or each == self.failed]
        if odd:
            may = [each for each in self.replaced if each != self.failed]
            choice = ", ".join(may) or "none"
            return [f"keep: {', '.join(odd)} cannot be kept; what can be kept: {choice}"]
        tasks = [self.plan.by_id[each] for each in dict.fromkeys(keep)]
        gone = set(self.replaced) - set(keep)
        return [fault for task in tasks for fault in _sourceless(task, gone, continuation.tasks)]

    def _new_ids(self, continuation: Plan, keep: Sequence[str]) -> Mapping[str, str]:
        taken = {*self.plan.by_id, *(task.id for task in continuation.tasks)}
        return fresh_names(dict.fromkeys(keep), taken)


def _sourceless(task: Task, gone: Collection[str], new: Sequence[Task]) -> Iterator[str]:
    """What the task takes from replaced tasks and not exactly one new task yields."""
    sources: dict[str, set[str]] = {}
    for source, name in _taken_values(task):
        found = _source_of(source, name, new) if source in gone else None
        if found is not None:
            sources.setdefault(source, set()).add(found.id)
        elif source in gone:
            yield (
                f"keep: {task.id} takes {name!r} from {source}, and none of your tasks yields it; "
                "yield it, or write the task again"
            )
    for source, ids in sources.items():
        if len(ids) > 1:
            among = " and ".join(sorted(ids))
            yield f"keep: what {task.id} takes from {source} is in {among}; write the task again"
    taken = {source for source, _ in _taken_values(task)}
    for need in task.depends_on:
        if need in gone and need not in taken and not _successors(need, new):
            yield f"keep: {task.id} depends on {need}, which none of your tasks replaces"


def _moved(
    task: Task, names: Mapping[str, str], gone: Collection[str], new: Sequence[Task]
) -> Task:
    """The task under its new id, with references to the new sources."""
    sources = {
        (source, name): found
        for source, name in _taken_values(task)
        if source in gone and (found := _source_of(source, name, new)) is not None
    }
    by_task = {source: found.id for (source, _), found in sources.items()}
    renamed = {**by_task, **names}
    inputs = tuple(rename_references(given, renamed) for given in task.inputs)
    needs = [
        each
        for need in task.depends_on
        for each in (_needs(need, renamed, new) if need in gone or need in names else [need])
    ]
    moved = task.with_id(names[task.id]).with_inputs(inputs).with_dependencies(needs)
    return moved.with_parent("").without_result()


def _needs(need: str, renamed: Mapping[str, str], new: Sequence[Task]) -> list[str]:
    if need in renamed:
        return [renamed[need]]
    return [task.id for task in _successors(need, new)] or [need]


def _taken_values(task: Task) -> list[tuple[str, str]]:
    """The tasks and entities that the inputs refer to."""
    found = [each for given in task.inputs for each in references_in(given.value)]
    return list(dict.fromkeys((each.task_id, each.entity or "") for each in found))


def _source_of(source: str, name: str, new: Sequence[Task]) -> Task | None:
    """The new task that yields the entity; one that replaces the source by its id comes first."""
    able = [task for task in new if name in {entity.name for entity in task.expects}]
    same = [task for task in able if task in _successors(source, new)]
    return next(reversed(same or able), None)


def _successors(task_id: str, new: Sequence[Task]) -> list[Task]:
    """T2a and T2b, which replace T2; T2b and T2aa, which replace T2a."""
    stem = _stem(task_id)
    return [task for task in new if task.id != task_id and _stem(task.id) == stem]


def _stem(task_id: str) -> str:
    """The id without the letters of a continuation: T2 of T2a, T3.1 of T3.1b."""
    numbered = _CONTINUED.fullmatch(task_id)
    return numbered[1] if numbered else task_id


def repeated_failures(continuation: Plan, tried: Sequence[Task]) -> list[str]:
    """The new tasks that do again exactly what failed before."""
    failed = {_content(task): task.id for task in tried}
    return [
        f"{task.id} is the same as {failed[_content(task)]}, which failed: change the query, the "
        "tool, or what it promises"
        for task in continuation.tasks
        if _content(task) in failed
    ]


def _content(task: Task) -> tuple[str, ...]:
    """What a task does and promises, without the name under which it does so."""
    words = "" if task.tool else " ".join(task.description.casefold().split())
    inputs = "; ".join(f"{each.name}={each.value!r}" for each in task.inputs)
    promised = "; ".join(f"{e.name}: {e.type.value}: {e.description}" for e in task.expects)
    return (task.kind.value, task.tool, task.agent, words, task.criteria, inputs, promised)
