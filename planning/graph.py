"""The plan as a graph: who needs whom, in which order, how deep and how broad."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from models.base import Frozen
from models.plan import Plan, Task


class Extent(Frozen):
    """How hard a plan is: `depth` tasks on the longest path, `breadth` = tasks / depth.

    Source: the planning-horizon paper (seed 001), section on difficulty measures.
    """

    depth: int
    breadth: float


def edges(plan: Plan) -> dict[str, tuple[str, ...]]:
    """What each task waits for, limited to tasks that exist."""
    known = plan.by_id
    return {task.id: tuple(d for d in task.depends_on if d in known) for task in plan.tasks}


def cycle(waits: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """The ids of one cycle, first and last the same; empty when there is none."""
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        return tuple(error.args[1])
    return ()


def dependents(waits: Mapping[str, Iterable[str]], root: str) -> frozenset[str]:
    """Every task that waits, directly or not, for `root`; `root` itself is not in it."""
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


def extent(plan: Plan) -> Extent:
    """Depth and breadth of the tasks that still count.

    An agent that has opened into steps counts as these: it ends when they have, and they begin
    when what it waits for has.
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
    return Extent(depth=longest, breadth=round(count / longest, 3) if longest else 0.0)


def _waits(task: Task, live: Mapping[str, Task], steps: Iterable[str]) -> list[str]:
    above = live[task.parent].depends_on if task.parent in live else ()
    return [need for need in (*task.depends_on, *above, *steps) if need in live]
