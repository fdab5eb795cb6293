"""How close jobs of tasks that take a second come to the time that their tasks alone would take."""

import statistics
from collections.abc import Sequence

from benchmarks.arms import Arms, running_arms
from benchmarks.figures import Figure, interleaved
from benchmarks.graphs import Graph, chain, critical_path_s, layered
from benchmarks.services import running_services

TASK_S = 1.0
GRAPHS: tuple[tuple[Graph, float | None], ...] = (
    (chain(20), 1.08),
    (layered(10, 10, 10), 1.25),
    (layered(10, 10, 3), None),
)


async def measure(
    rounds: int = 5,
    graphs: Sequence[tuple[Graph, float | None]] = GRAPHS,
    task_s: float = TASK_S,
) -> list[Figure]:
    """Wall time of the tasks over their critical path, both arms; the aim is the engine's."""
    with running_services() as services:
        async with running_arms(services) as arms:
            await arms.engine(chain(5))
            await arms.bare(chain(5))
            arms.sleep_s = task_s
            found = [await _graph(arms, graph, aim, rounds) for graph, aim in graphs]
            return [figure for figures in found for figure in figures]


async def _graph(arms: Arms, graph: Graph, aim: float | None, rounds: int) -> list[Figure]:
    least = critical_path_s(graph, arms.sleep_s)

    async def engine() -> float:
        return (await arms.engine(graph)).tasks_s / least

    async def bare() -> float:
        timed = await arms.bare(graph)
        # Its last task sleeps as well, which the engine's does not.
        return (timed.tasks_s - arms.sleep_s) / least

    ours, theirs = await interleaved((engine, bare), rounds)
    note = f"critical path {least:g} s"
    return [
        Figure(f"{graph.name}: engine", statistics.median(ours), "x", aim, note),
        Figure(f"{graph.name}: bare Temporal", statistics.median(theirs), "x"),
    ]
