"""Compare the wall time of jobs of one-second tasks with the length of their critical path."""

import statistics
from collections.abc import Sequence

from benchmarks.engine.compared_arms import ComparedArms, running_arms
from benchmarks.setup.benchmark_figures import MeasuredFigure, time_interleaved
from benchmarks.setup.job_graphs import JobGraph, chain_graph, critical_path_s, layered_graph
from holdfast.services.servers.temporary_services import temporary_services

TASK_S = 1.0
GRAPHS: tuple[tuple[JobGraph, float | None], ...] = (
    (chain_graph(20), 1.08),
    (layered_graph(10, 10, 10), 1.25),
    (layered_graph(10, 10, 3), None),
)


async def measure(
    rounds: int = 5,
    graphs: Sequence[tuple[JobGraph, float | None]] = GRAPHS,
    task_s: float = TASK_S,
) -> list[MeasuredFigure]:
    """Wall time of the tasks over their critical path, both arms; the aim is the engine's."""
    with temporary_services() as services:
        async with running_arms(services) as arms:
            await arms.engine(chain_graph(5))
            await arms.bare(chain_graph(5))
            arms.sleep_s = task_s
            found = [await _graph(arms, graph, aim, rounds) for graph, aim in graphs]
            return [figure for figures in found for figure in figures]


async def _graph(
    arms: ComparedArms, graph: JobGraph, aim: float | None, rounds: int
) -> list[MeasuredFigure]:
    least = critical_path_s(graph, arms.sleep_s)

    async def engine() -> float:
        return (await arms.engine(graph)).tasks_s / least

    async def bare() -> float:
        timed = await arms.bare(graph)
        # Its last task sleeps as well, which the engine's does not.
        return (timed.tasks_s - arms.sleep_s) / least

    ours, theirs = await time_interleaved((engine, bare), rounds)
    note = f"critical path {least:g} s"
    return [
        MeasuredFigure(f"{graph.name}: engine", statistics.median(ours), "x", aim, note),
        MeasuredFigure(f"{graph.name}: bare Temporal", statistics.median(theirs), "x"),
    ]
