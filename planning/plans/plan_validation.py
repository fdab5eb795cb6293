"""List the faults of a plan, each with its task; a plan without faults may run."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.errors import Unresolved
from holdfast.models.plans.research_plan import (
    FINAL_ANSWER,
    MAX_TASKS,
    EntityType,
    ExpectedEntity,
    Plan,
    Task,
    TaskInput,
    TaskKind,
)
from holdfast.models.text.reference_marks import (
    referenced_paths,
    whole_reference,
)
from holdfast.planning.plans.entity_references import (
    Reference,
    misspelt_reference_faults,
    references_in,
)
from holdfast.planning.plans.plan_graph import find_cycle
from holdfast.planning.plans.tool_parameters import (
    ParameterTypes,
    missing_parameters,
    unknown_parameters,
)

MAX_FAULTS = 1_000
"""The faults that are told; a tool may require thousands of parameters of each task."""
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_RAW = frozenset({"raw_data", "response", "content"})


@dataclass(frozen=True)
class PlanRules:
    """What a plan may use: tools, agents and, for a continuation, the tasks that stay."""

    tools: Mapping[str, ToolSignature]
    kept: Mapping[str, Task] = field(default_factory=dict)
    """Tasks of the current plan that new tasks may depend on."""
    used_ids: frozenset[str] = frozenset()
    requires_entities: bool = True
    """True if tool tasks must name the entities that they promise."""
    needs_final: bool = True
    """True if the last task must yield the final answer; false if the current one stays."""
    agents: frozenset[str] = frozenset()
    """Names of the agents that may resolve agent tasks."""
    promise: tuple[ExpectedEntity, ...] = ()
    """The entities that an agent's last step must yield, in place of the final answer."""
    prefix: str = ""
    """The prefix of the ids of an agent's steps."""
    may_be_empty: bool = False
    """True if a plan without tasks says that nothing more can be found."""


def plan_faults(plan: Plan, ground: PlanRules) -> tuple[str, ...]:
    """Return the faults of the plan, in the order of its tasks."""
    if not plan.tasks:
        return () if ground.may_be_empty else ("the plan has no tasks",)
    if len(plan.tasks) > MAX_TASKS:
        return (f"the plan has {len(plan.tasks)} tasks; the limit is {MAX_TASKS}",)
    faults = chain(
        _id_faults(plan, ground),
        _faults_of_tasks(plan, ground),
        _cycle_faults(plan),
        _closing_faults(plan, ground),
    )
    return tuple(dict.fromkeys(islice(faults, MAX_FAULTS)))


def _faults_of_tasks(plan: Plan, ground: PlanRules) -> Iterator[str]:
    tasks, types = {**ground.kept, **plan.by_id}, ParameterTypes()
    for task in plan.tasks:
        for fault in _task_faults(task, tasks, ground, types):
            yield f"task {task.id!r}: {fault}"


def _id_faults(plan: Plan, ground: PlanRules) -> Iterator[str]:
    for task_id, count in Counter(task.id for task in plan.tasks).items():
        if count > 1:
            yield f"task {task_id!r}: the id is used {count} times"
        if task_id in ground.used_ids:
            yield f"task {task_id!r}: the id belongs to an earlier task; take an unused one"
        if not task_id.startswith(ground.prefix):
            yield f"task {task_id!r}: the id of a step here begins with {ground.prefix!r}"
        if not _ID.fullmatch(task_id):
            yield f"task {task_id!r}: an id is a letter, then letters, digits, _ . -"


def _task_faults(
    task: Task, tasks: Mapping[str, Task], ground: PlanRules, types: ParameterTypes
) -> Iterator[str]:
    for need in task.depends_on:
        if need == task.id:
            yield "depends on itself"
        elif need not in tasks:
            yield f"depends on {need!r}, which does not exist"
    if task.kind is TaskKind.TOOL:
        yield from _tool_faults(task, tasks, ground, types)
    elif task.kind is TaskKind.AGENT:
        yield from _agent_faults(task, ground)
    elif task.tool:
        yield f"is a reasoning task but names the tool {task.tool!r}"
    yield from _expects_faults(task, ground)
    for given in task.inputs:
        yield from reference_faults(task, given, tasks)


def _tool_faults(
    task: Task, tasks: Mapping[str, Task], ground: PlanRules, types: ParameterTypes
) -> Iterator[str]:
    tool = ground.tools.get(task.tool)
    if tool is None:
        known = ", ".join(sorted(ground.tools)) or "none"
        yield f"unknown tool {task.tool!r}; known tools: {known}"
        return
    names = [given.name for given in task.inputs]
    for name in missing_parameters(tool, names):
        yield f"tool {task.tool!r} needs the parameter {name!r}, which is missing"
    for name in unknown_parameters(tool, names):
        yield f"tool {task.tool!r} has no parameter {name!r}"
    for given in task.inputs:
        fault = types.fault(tool, given, _type_of(given, tasks))
        if fault:
            yield fault


def _agent_faults(task: Task, ground: PlanRules) -> Iterator[str]:
    if task.agent not in ground.agents:
        known = ", ".join(sorted(ground.agents)) or "none"
        yield f"unknown agent {task.agent!r}; agents: {known}"
    if not task.description.strip():
        yield "has no description of what to find out"


def _expects_faults(task: Task, ground: PlanRules) -> Iterator[str]:
    names = [entity.name for entity in task.expects]
    if not names and (ground.requires_entities or task.kind is TaskKind.REASONING):
        yield "promises no entity"
    for name, count in Counter(names).items():
        if count > 1:
            yield f"promises the entity {name!r} {count} times"
        if name in _RAW and ground.requires_entities:
            yield f"promises {name!r}, which is raw output; name the value that is wanted"


def reference_faults(task: Task, given: TaskInput, tasks: Mapping[str, Task]) -> Iterator[str]:
    """Yield the faults of the references in one input; `tasks` are those that it may name."""
    try:
        references = list(references_in(given.value))
    except Unresolved as error:
        yield f"parameter {given.name!r}: {error}"
        return
    if given.is_reference and not references:
        yield f"parameter {given.name!r} is marked as a reference but holds none"
    for misspelt in misspelt_reference_faults(given.value, tasks):
        yield f"parameter {given.name!r}: {misspelt}"
    for reference in references:
        fault = _undeclared(task, reference, tasks)
        if fault:
            yield f"parameter {given.name!r}: {fault}"


def _undeclared(task: Task, reference: Reference, tasks: Mapping[str, Task]) -> str | None:
    if reference.task_id not in task.depends_on:
        return f"refers to {reference.path!r}, but {reference.task_id!r} is not a dependency"
    source = tasks.get(reference.task_id)
    if source is None:
        return None  # an unknown dependency is reported as its own fault
    if reference.entity is None:
        return f"refers to {reference.path!r}, which names no entity"
    if reference.entity not in _entity_names(source):
        return f"refers to {reference.path!r}, an entity that {source.id!r} does not promise"
    return None


def _entity_names(task: Task) -> Iterable[str]:
    return [entity.name for entity in task.expects] or ["result"]


def _type_of(given: TaskInput, tasks: Mapping[str, Task]) -> EntityType | None:
    """Return the declared type of a value that is one whole reference, or None if unknown."""
    if not isinstance(given.value, str):
        return None
    if whole_reference(given.value) is None:
        return EntityType.STRING if referenced_paths(given.value) else None
    try:
        reference = next(references_in(given.value))
    except (Unresolved, StopIteration):
        return None
    source = tasks.get(reference.task_id)
    entity = _entity(source, reference.entity) if source else None
    return _type_behind(reference, entity)


def _type_behind(reference: Reference, entity: ExpectedEntity | None) -> EntityType | None:
    if reference.is_whole_array:
        return EntityType.ARRAY
    return entity.type if entity and reference.is_plain else None


def _entity(task: Task, name: str | None) -> ExpectedEntity | None:
    return next((entity for entity in task.expects if entity.name == name), None)


def _cycle_faults(plan: Plan) -> Iterator[str]:
    ids = plan.by_id
    found = find_cycle({task.id: [d for d in task.depends_on if d in ids] for task in plan.tasks})
    if len(found) > 2:  # a task that depends on itself is reported already
        yield f"task {found[0]!r}: its dependencies form a cycle: {' -> '.join(found)}"


def _closing_faults(plan: Plan, ground: PlanRules) -> Iterator[str]:
    if ground.promise:
        return _promise_faults(plan, ground.promise)
    return _final_faults(plan) if ground.needs_final else _no_final_faults(plan)


def _promise_faults(plan: Plan, promise: tuple[ExpectedEntity, ...]) -> Iterator[str]:
    last = plan.tasks[-1]
    wanted = {entity.name: entity.type for entity in promise}
    if {entity.name: entity.type for entity in last.expects} != wanted:
        names = ", ".join(f"{name} ({kind.value})" for name, kind in wanted.items())
        yield f"task {last.id!r}: the last task must yield exactly {names}"


def _final_faults(plan: Plan) -> Iterator[str]:
    last = plan.tasks[-1]
    if not last.is_final:
        names = ", ".join(entity.name for entity in last.expects) or "nothing"
        yield f"task {last.id!r}: the last task must yield exactly {FINAL_ANSWER!r}, not {names}"
    for task in plan.tasks[:-1]:
        if any(entity.name == FINAL_ANSWER for entity in task.expects):
            yield f"task {task.id!r}: only the last task may yield {FINAL_ANSWER!r}"
    if plan.tasks[-1].id in {need for task in plan.tasks for need in task.depends_on}:
        yield f"task {last.id!r}: the last task must not be needed by another"


def _no_final_faults(plan: Plan) -> Iterator[str]:
    for task in plan.tasks:
        if any(entity.name == FINAL_ANSWER for entity in task.expects):
            yield f"task {task.id!r}: no task may yield {FINAL_ANSWER!r} here"
