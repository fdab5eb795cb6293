"""The graphs that are timed: a chain, a wide one and a layered one, each with one last task."""

from dataclasses import dataclass
from typing import Any

LAST = "answer"


@dataclass(frozen=True)
class Node:
    """A task of a graph and the tasks that it waits for."""

    id: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Graph:
    """Nodes in an order in which each stands behind what it needs; the last one joins all."""

    name: str
    nodes: tuple[Node, ...]
    slots: int

    @property
    def size(self) -> int:
        """How many tasks there are, without the one that joins them."""
        return len(self.nodes) - 1


def chain(length: int) -> Graph:
    nodes = [Node(_id(n), (_id(n - 1),) if n > 1 else ()) for n in range(1, length + 1)]
    return _joined(f"chain {length}", nodes, 3)


def wide(count: int, slots: int) -> Graph:
    nodes = [Node(_id(n)) for n in range(1, count + 1)]
    return _joined(f"wide {count}, {slots} slots", nodes, slots)


def layered(width: int, depth: int, slots: int) -> Graph:
    """Each task needs two of the layer before it."""
    nodes = [
        Node(_id(layer * width + n + 1), _above(layer, n, width))
        for layer in range(depth)
        for n in range(width)
    ]
    return _joined(f"layered {width}x{depth}, {slots} slots", nodes, slots)


def critical_path_s(graph: Graph, task_s: float) -> float:
    """How long the graph takes when nothing but its tasks takes time; the last one takes none.

    With fewer slots than tasks that are ready it is the time of a scheduler that fills each slot
    as soon as it is free, in the order of the nodes.
    """
    ends: dict[str, int] = {}
    waiting = [node for node in graph.nodes if node.id != LAST]
    step = 0
    while waiting:
        ready = [node for node in waiting if all(ends.get(n, step) < step for n in node.needs)]
        for node in ready[: graph.slots]:
            ends[node.id] = step
            waiting.remove(node)
        step += 1
    return step * task_s


def draft(graph: Graph, tool: str) -> dict[str, Any]:
    """The plan as the planner answers it: each task's query quotes what the ones before found."""
    return {"tasks": [_task(node, tool) for node in graph.nodes]}


def _joined(name: str, nodes: list[Node], slots: int) -> Graph:
    needed = {need for node in nodes for need in node.needs}
    ends = tuple(node.id for node in nodes if node.id not in needed)
    return Graph(name, (*nodes, Node(LAST, ends)), slots)


def _above(layer: int, n: int, width: int) -> tuple[str, ...]:
    if layer == 0:
        return ()
    first = (layer - 1) * width + 1
    return tuple(dict.fromkeys((_id(first + n), _id(first + (n + 1) % width))))


def _task(node: Node, tool: str) -> dict[str, Any]:
    found = [f"<JSON_PATH>{need}.value</JSON_PATH>" for need in node.needs]
    shared = {"id": node.id, "description": f"work {node.id}", "depends_on": list(node.needs)}
    if node.id == LAST:
        inputs = [{"name": "value", "value": found[0]}]
        return shared | {
            "kind": "reasoning", "inputs": inputs, "expects": [{"name": "final_answer"}],
        }  # fmt: skip
    inputs = [{"name": "query", "value": " ".join([node.id, *found])}]
    expects = [{"name": "value", "description": "the value of the task"}]
    return shared | {"kind": "tool", "tool": tool, "inputs": inputs, "expects": expects}


def _id(n: int) -> str:
    return f"T{n}"
