"""Build the task graphs of the benchmarks, and find their critical path."""

from dataclasses import dataclass
from typing import Any

LAST_TASK = "answer"


@dataclass(frozen=True)
class GraphTask:
    """A task of a graph and the tasks that it waits for."""

    id: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobGraph:
    """Tasks in an order in which each stands behind what it needs; the last one joins all."""

    name: str
    tasks: tuple[GraphTask, ...]
    slots: int

    @property
    def size(self) -> int:
        """How many tasks there are, without the one that joins them."""
        return len(self.tasks) - 1


def chain_graph(length: int) -> JobGraph:
    tasks = [GraphTask(_id(n), (_id(n - 1),) if n > 1 else ()) for n in range(1, length + 1)]
    return _joined(f"chain {length}", tasks, 3)


def wide_graph(count: int, slots: int) -> JobGraph:
    tasks = [GraphTask(_id(n)) for n in range(1, count + 1)]
    return _joined(f"wide {count}, {slots} slots", tasks, slots)


def layered_graph(width: int, depth: int, slots: int) -> JobGraph:
    """Each task needs two of the layer before it."""
    tasks = [
        GraphTask(_id(layer * width + n + 1), _above(layer, n, width))
        for layer in range(depth)
        for n in range(width)
    ]
    return _joined(f"layered {width}x{depth}, {slots} slots", tasks, slots)


def parallel_chains(width: int, depth: int, slots: int) -> JobGraph:
    """Chains next to each other, numbered layer by layer: each task needs the one above it."""
    tasks = [
        GraphTask(_id(n), (_id(n - width),) if n > width else ())
        for n in range(1, width * depth + 1)
    ]
    return _joined(f"chains {width}x{depth}, {slots} slots", tasks, slots)


def critical_path_s(graph: JobGraph, task_s: float) -> float:
    """How long the graph takes when nothing but its tasks takes time; the last one takes none.

    With fewer slots than tasks that are ready it is the time of a scheduler that fills each slot
    as soon as it is free, in the order of the tasks.
    """
    ends: dict[str, int] = {}
    waiting = [task for task in graph.tasks if task.id != LAST_TASK]
    step = 0
    while waiting:
        ready = [task for task in waiting if all(ends.get(n, step) < step for n in task.needs)]
        for task in ready[: graph.slots]:
            ends[task.id] = step
            waiting.remove(task)
        step += 1
    return step * task_s


def plan_draft(graph: JobGraph, tool: str) -> dict[str, Any]:
    """The plan as the planner answers it: each task's query quotes what the ones before found."""
    return {"tasks": [_task(task, tool) for task in graph.tasks]}


def _joined(name: str, tasks: list[GraphTask], slots: int) -> JobGraph:
    needed = {need for task in tasks for need in task.needs}
    ends = tuple(task.id for task in tasks if task.id not in needed)
    return JobGraph(name, (*tasks, GraphTask(LAST_TASK, ends)), slots)


def _above(layer: int, n: int, width: int) -> tuple[str, ...]:
    if layer == 0:
        return ()
    first = (layer - 1) * width + 1
    return tuple(dict.fromkeys((_id(first + n), _id(first + (n + 1) % width))))


def _task(task: GraphTask, tool: str) -> dict[str, Any]:
    found = [f"<JSON_PATH>{need}.value</JSON_PATH>" for need in task.needs]
    shared = {"id": task.id, "description": f"work {task.id}", "depends_on": list(task.needs)}
    if task.id == LAST_TASK:
        inputs = [{"name": "value", "value": found[0]}]
        return shared | {
            "kind": "reasoning",
            "inputs": inputs,
            "expects": [{"name": "final_answer"}],
        }
    inputs = [{"name": "query", "value": " ".join([task.id, *found])}]
    expects = [{"name": "value", "description": "the value of the task"}]
    return shared | {"kind": "tool", "tool": tool, "inputs": inputs, "expects": expects}


def _id(n: int) -> str:
    return f"T{n}"
