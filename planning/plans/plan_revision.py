"""Turn a proposed revision of pending tasks into a plan change, and list its faults (TDP-06).

Only tasks that have not begun change. The graph stays free of cycles and every dependency resolves;
who depended on a removed task depends on what that one depended on. First searches stay unless the
revision gives others, but for those that take a value of a task that is no dependency any more.
"""

from collections.abc import Container, Iterator

from pydantic import JsonValue

from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.plan_change import FieldChange, PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan, Task, TaskInput, TaskStatus
from holdfast.planning.plans.entity_references import references_in
from holdfast.planning.plans.plan_graph import find_cycle, known_dependencies
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults, reference_faults

_COMPARED_FIELDS = ("description", "criteria", "depends_on", "inputs")


class RevisionProposal(Frozen):
    """The tasks that a proposed revision refines, adds and removes."""

    refined: tuple[Task, ...] = ()
    """Tasks of the plan as they are to be."""
    added: tuple[Task, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    """Failed tasks that the revision repairs: it may remove them, and nothing may need them."""
    gone: tuple[str, ...] = ()
    """Failed tasks that were given up before: nothing that the revision writes may need them."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Failed tasks that the revision neither removes nor needs: the plan goes on without."""
        return tuple(name for name in self.failed if name not in self.removed)


def revision_change(plan: Plan, proposal: RevisionProposal, explanation: str = "") -> PlanChange:
    """Return the change that makes the plan as proposed; tasks that have begun stay as they are."""
    removed = tuple(name for name in proposal.removed if _is_removable(name, plan, proposal))
    refined = {task.id: task for task in proposal.refined}
    changed: list[FieldChange] = []
    for task in plan.tasks:
        if _is_open(task) and task.id not in removed:
            wanted = _without_removed(refined.get(task.id, task), removed, plan)
            changed += _field_changes(task, _with_possible_queries(wanted))
    return PlanChange(
        cause=PlanChangeCause.REVISED,
        added=proposal.added,
        superseded=removed,
        changed=tuple(changed),
        explanation=explanation,
    )


def _field_changes(before: Task, after: Task) -> Iterator[FieldChange]:
    old, new = before.model_dump(mode="json"), after.model_dump(mode="json")
    for name in _COMPARED_FIELDS:
        if old[name] != new[name]:
            yield FieldChange(task=before.id, field=name, old=old[name], new=new[name])


def revision_faults(plan: Plan, proposal: RevisionProposal, ground: PlanRules) -> list[str]:
    """What is wrong with a proposal, each fault with its task; nothing where it may be made."""
    if misread := list(_faults_of_new_queries(plan, proposal)):
        return misread
    faults = [*_faults_of_begun_tasks(plan, proposal), *_faults_of_empty_tasks(proposal)]
    after = revision_change(plan, proposal).apply_to(plan)
    live = {task.id: task for task in after.live}
    fresh = {task.id for task in proposal.added}
    kept = {name: task for name, task in live.items() if name not in fresh}
    lost = frozenset((*proposal.failed, *proposal.gone))
    has_final = any(task.is_final for name, task in kept.items() if name not in lost)
    if proposal.added:
        stands_on = PlanRules(
            tools=ground.tools,
            kept=kept,
            used_ids=frozenset(plan.by_id),
            needs_final=ground.needs_final and not has_final,
            agents=ground.agents,
        )
        faults += plan_faults(Plan(tasks=proposal.added), stands_on)
    elif ground.needs_final and not has_final:
        faults.append("no task that is left yields the final answer")
    faults += [
        f"task {task.id!r}: depends on {need!r}, which does not exist or is removed"
        for task in kept.values()
        for need in task.depends_on
        if need not in live and not _is_past_need(task, need, plan, proposal)
    ]
    faults += _faults_of_lost_needs(plan, proposal, after)
    found = find_cycle(known_dependencies(Plan(tasks=tuple(live.values()))))
    if found:
        faults.append(f"task {found[0]!r}: its dependencies form a cycle: {' -> '.join(found)}")
    return list(dict.fromkeys(faults))


def _faults_of_begun_tasks(plan: Plan, proposal: RevisionProposal) -> Iterator[str]:
    for name in (*(task.id for task in proposal.refined), *proposal.removed):
        task = plan.by_id.get(name)
        if task is None:
            yield f"task {name!r}: the plan has no such task"
        elif not _is_open(task) and not (name in proposal.removed and name in proposal.failed):
            yield f"task {name!r}: it is {task.status.value}, and only what is pending may change"


def _is_past_need(task: Task, need: str, plan: Plan, proposal: RevisionProposal) -> bool:
    """True if a task that has begun names a failed task; it waits for that one no more."""
    known = plan.by_id.get(need)
    was_discarded = known is not None and known.status.is_discarded
    return not _is_open(task) and (need in proposal.failed or was_discarded)


def _faults_of_lost_needs(plan: Plan, proposal: RevisionProposal, after: Plan) -> Iterator[str]:
    """Tasks that were to wait for a failed one and were not told what they wait for instead.

    What waits already for a task that was given up before is no fault of this revision.
    """
    refined = {task.id: task for task in proposal.refined}
    for task in after.live:
        is_written = task.id in refined or task.id not in plan.by_id
        barred = frozenset((*proposal.failed, *(proposal.gone if is_written else ())))
        wanted = refined.get(task.id) or plan.by_id.get(task.id, task)
        needs = (*wanted.depends_on, *task.depends_on)
        lost = [name for name in needs if name in barred]
        if lost and _is_open(task):
            yield (
                f"task {task.id!r}: depends on {lost[0]!r}, which failed; let it depend on what "
                f"replaces {lost[0]!r} or on nothing of it, or remove it"
            )


def _faults_of_empty_tasks(proposal: RevisionProposal) -> Iterator[str]:
    for task in proposal.refined:
        if not task.description.strip():
            yield f"task {task.id!r}: the refined description is empty"


def _faults_of_new_queries(plan: Plan, proposal: RevisionProposal) -> Iterator[str]:
    """Faults of references in first searches that the revision gives in place of planned ones."""
    tasks = {**plan.by_id, **{task.id: task for task in proposal.added}}
    for task in proposal.refined:
        known = plan.by_id.get(task.id)
        if known is None or task.first_queries == known.first_queries:
            continue
        for given in task.first_queries:
            for fault in reference_faults(task, given, tasks):
                yield f"task {task.id!r}: {fault}"


def _without_removed(task: Task, removed: tuple[str, ...], plan: Plan) -> Task:
    """The task without removed dependencies: it depends on what these depended on."""
    needs = list(task.depends_on)
    while any(need in removed for need in needs):
        needs = [
            each
            for need in needs
            for each in (plan.by_id[need].depends_on if need in removed else (need,))
        ]
    once = tuple(dict.fromkeys(needs))
    return task if once == task.depends_on else task.with_dependencies(once)


def _with_possible_queries(wanted: Task) -> Task:
    """The wanted task with those of its first searches whose references resolve."""
    inputs = [
        each if each not in wanted.first_queries else _possible(each, wanted.depends_on)
        for each in wanted.inputs
    ]
    return wanted.with_inputs(tuple(each for each in inputs if each is not None))


def _possible(queries: TaskInput, needs: Container[str]) -> TaskInput | None:
    """The first searches that take values of `needs` alone; None if there is none."""
    texts = queries.value if isinstance(queries.value, list) else [queries.value]
    kept = [each for each in texts if _takes_only(each, needs)]
    if kept == texts:
        return queries
    return queries.model_copy(update={"value": kept}).with_reference_flag() if kept else None


def _takes_only(query: JsonValue, needs: Container[str]) -> bool:
    return all(reference.task_id in needs for reference in references_in(query))


def _is_removable(name: str, plan: Plan, proposal: RevisionProposal) -> bool:
    task = plan.by_id.get(name)
    return task is not None and (_is_open(task) or name in proposal.failed)


def _is_open(task: Task) -> bool:
    return task.status is TaskStatus.PENDING
