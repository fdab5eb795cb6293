"""Compute properties of the plan's dependency graph: cycles, dependents, depth and breadth."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import Plan, Task


class PlanExtent(Frozen):
    """How hard a plan is: `depth` tasks on the longest path, `breadth` = tasks / depth.

    Source: the planning-horizon paper (docs/method.md), section on difficulty measures.
    """

    depth: int
    breadth: float


def known_dependencies(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the dependencies of each task, without unknown ids."""
    known = plan.by_id
    return {task.id: tuple(d for d in task.depends_on if d in known) for task in plan.tasks}


def find_cycle(waits: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return the ids of one cycle, the first id again at the end; empty without a cycle."""
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        return tuple(error.args[1])
    return ()


def dependents(waits: Mapping[str, Iterable[str]], root: str) -> frozenset[str]:
    """Return every task that depends on `root`, directly or not, without `root` itself."""
    needed_by = defaultdict(list)
    for task_id, needs in waits.items():
        for need in needs:
            needed_by[need].append(task_id)
    found: set[str] = set()
    frontier = [root]
    while frontier:
        fresh = [each for each in needed_by[frontier.pop()] if each not in found]
        found.update(fresh)
        frontier.extend(fresh)
    return frozenset(found - {root})


def upstream_tasks(plan: Plan, task_id: str) -> set[str]:
    """Return the task and every task that it used, directly or not."""
    seen: set[str] = set()
    frontier = [task_id]
    while frontier:
        current = frontier.pop()
        if current not in seen and current in plan.by_id:
            seen.add(current)
            frontier.extend(plan.by_id[current].depends_on)
    return seen


def plan_extent(plan: Plan) -> PlanExtent:
    """Return the depth and breadth of the tasks that are not superseded or cancelled.

    An agent task with steps is counted as its steps: they start when its dependencies are done,
    and the agent task ends after them.
    """
    live = {task.id: task for task in plan.live}
    steps: dict[str, list[str]] = defaultdict(list)
    for task in live.values():
        if task.parent in live:
            steps[task.parent].append(task.id)
    waits = {key: _waits(task, live, steps[key]) for key, task in live.items()}
    depth: dict[str, int] = {}
    for task_id in TopologicalSorter(waits).static_order():
        own = 0 if steps[task_id] else 1
        depth[task_id] = own + max((depth[need] for need in waits[task_id]), default=0)
    longest = max(depth.values(), default=0)
    count = sum(not steps[task_id] for task_id in live)
    return PlanExtent(depth=longest, breadth=round(count / longest, 3) if longest else 0.0)


def _waits(task: Task, live: Mapping[str, Task], steps: Iterable[str]) -> list[str]:
    above = live[task.parent].depends_on if task.parent in live else ()
    return [need for need in (*task.depends_on, *above, *steps) if need in live]
