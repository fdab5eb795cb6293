"""Measure the time and the SQL statements that the engine adds to an empty task, compared with
bare Temporal."""

import statistics
from collections.abc import Sequence

from benchmarks.engine.compared_arms import ComparedArms, TimedJob, running_arms
from benchmarks.setup.benchmark_figures import MeasuredFigure, median_ratio, time_interleaved
from benchmarks.setup.job_graphs import JobGraph, chain_graph, layered_graph, wide_graph
from benchmarks.setup.statement_counter import StatementCounts, count_statements
from holdfast.services.servers.temporary_services import temporary_services

AIM = 1.5
GRAPHS = (chain_graph(50), wide_graph(96, 3), layered_graph(10, 10, 10))
WARM = chain_graph(5)


async def measure(rounds: int = 5, graphs: Sequence[JobGraph] = GRAPHS) -> list[MeasuredFigure]:
    """Milliseconds per task of both arms and their ratio; then what one task asks of PostgreSQL."""
    with temporary_services() as services:
        async with running_arms(services) as arms:
            await arms.engine(WARM)
            await arms.bare(WARM)
            figures = [figure for graph in graphs for figure in await _graph(arms, graph, rounds)]
            with count_statements(arms.db.engine) as counted:
                await arms.engine(graphs[0])
            return figures + _statements(counted, graphs[0])


async def _graph(arms: ComparedArms, graph: JobGraph, rounds: int) -> list[MeasuredFigure]:
    timed: dict[str, list[TimedJob]] = {"engine": [], "bare": []}

    async def engine() -> float:
        timed["engine"].append(await arms.engine(graph))
        return timed["engine"][-1].tasks_s

    async def bare() -> float:
        timed["bare"].append(await arms.bare(graph))
        return timed["bare"][-1].tasks_s

    ours, theirs = await time_interleaved((engine, bare), rounds)
    cpu = [statistics.median(each.cpu_s for each in timed[arm]) for arm in ("engine", "bare")]
    return [
        MeasuredFigure(f"{graph.name}: ratio", median_ratio(ours, theirs), "x", AIM),
        MeasuredFigure(f"{graph.name}: engine", _per_task(ours, graph), "ms/task"),
        MeasuredFigure(f"{graph.name}: bare Temporal", _per_task(theirs, graph), "ms/task"),
        MeasuredFigure(f"{graph.name}: engine's CPU", cpu[0] * 1000 / len(graph.tasks), "ms/task"),
        MeasuredFigure(
            f"{graph.name}: bare Temporal's CPU", cpu[1] * 1000 / len(graph.tasks), "ms/task"
        ),
    ]


def _per_task(times: Sequence[float], graph: JobGraph) -> float:
    return statistics.median(times) * 1000 / len(graph.tasks)


def _statements(counted: StatementCounts, graph: JobGraph) -> list[MeasuredFigure]:
    """With the plan and the report shared out over the tasks."""
    tasks = len(graph.tasks)
    return [
        MeasuredFigure("SQL statements", counted.statements / tasks, "per task"),
        MeasuredFigure(
            "of them through SQLAlchemy", counted.through_sqlalchemy / tasks, "per task"
        ),
        MeasuredFigure("connections taken from its pool", counted.checkouts / tasks, "per task"),
        MeasuredFigure("time in statements", counted.seconds * 1000 / tasks, "ms/task"),
    ]
