"""A revision of the plan: what it changes, and what is wrong with it (TDP-06).

Only tasks that have not begun change. The graph stays free of cycles and every dependency resolves;
who depended on a removed task depends on what that one depended on.
"""

from collections.abc import Iterator

from models.base import Frozen
from models.plan import Plan, Task, TaskStatus
from models.revisions import Change
from planning.graph import cycle, edges
from planning.validation import Ground, plan_faults

_REFINED = ("description", "criteria", "depends_on")


class Proposal(Frozen):
    """What somebody wants to change."""

    refined: tuple[Task, ...] = ()
    """Tasks of the plan as they are to be."""
    added: tuple[Task, ...] = ()
    removed: tuple[str, ...] = ()


class Changed(Frozen):
    """The plan after a revision, with what it changed."""

    plan: Plan
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    refined: tuple[str, ...] = ()
    fields: tuple[Change, ...] = ()

    @property
    def is_any(self) -> bool:
        return bool(self.added or self.removed or self.refined)


def revised(plan: Plan, proposal: Proposal) -> Changed:
    """The plan as proposed; tasks that have begun stay as they are, whatever was proposed."""
    removed = tuple(n for n in proposal.removed if n in plan.by_id and _is_open(plan.by_id[n]))
    wanted = {t.id: t for t in proposal.refined if t.id in plan.by_id and t.id not in removed}
    tasks, fields = [], []
    for task in plan.tasks:
        after = _without(wanted.get(task.id, task), removed, plan) if _is_open(task) else task
        fields += [
            Change(
                task=task.id,
                field=name,
                old=_plain(getattr(task, name)),
                new=_plain(getattr(after, name)),
            )
            for name in _REFINED
            if getattr(task, name) != getattr(after, name)
        ]
        is_gone = task.id in removed
        tasks.append(_superseded(after) if is_gone else after)
    changed = tuple(dict.fromkeys(each.task for each in fields if each.task not in removed))
    return Changed(
        plan=Plan(tasks=(*tasks, *proposal.added)),
        added=tuple(task.id for task in proposal.added),
        removed=removed,
        refined=changed,
        fields=tuple(each for each in fields if each.task in changed),
    )


def revision_faults(plan: Plan, proposal: Proposal, ground: Ground) -> list[str]:
    """What is wrong with a proposal, each fault with its task; nothing where it may be made."""
    faults = [*_closed(plan, proposal), *_empty(proposal)]
    after = revised(plan, proposal).plan
    live = {task.id: task for task in after.live}
    fresh = {task.id for task in proposal.added}
    kept = {name: task for name, task in live.items() if name not in fresh}
    has_final = any(task.is_final for task in kept.values())
    if proposal.added:
        stands_on = Ground(
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
        if need not in live
    ]
    found = cycle(edges(Plan(tasks=tuple(live.values()))))
    if found:
        faults.append(f"task {found[0]!r}: its dependencies form a cycle: {' -> '.join(found)}")
    return list(dict.fromkeys(faults))


def _closed(plan: Plan, proposal: Proposal) -> Iterator[str]:
    for name in (*(task.id for task in proposal.refined), *proposal.removed):
        task = plan.by_id.get(name)
        if task is None:
            yield f"task {name!r}: the plan has no such task"
        elif not _is_open(task):
            yield f"task {name!r}: it is {task.status.value}, and only what is pending may change"


def _empty(proposal: Proposal) -> Iterator[str]:
    for task in proposal.refined:
        if not task.description.strip():
            yield f"task {task.id!r}: the refined description is empty"


def _without(task: Task, removed: tuple[str, ...], plan: Plan) -> Task:
    """The task without removed dependencies: it depends on what these depended on."""
    needs = list(task.depends_on)
    while any(need in removed for need in needs):
        needs = [
            each
            for need in needs
            for each in (plan.by_id[need].depends_on if need in removed else (need,))
        ]
    once = tuple(dict.fromkeys(needs))
    return task if once == task.depends_on else task.model_copy(update={"depends_on": once})


def _superseded(task: Task) -> Task:
    return task.model_copy(update={"status": TaskStatus.SUPERSEDED})


def _is_open(task: Task) -> bool:
    return task.status is TaskStatus.PENDING


def _plain(value: object) -> str | list[str]:
    return list(value) if isinstance(value, tuple) else str(value)
