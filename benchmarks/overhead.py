"""What the engine adds to a task that takes no time, against bare Temporal in the same run."""

import statistics
from collections.abc import Sequence

from benchmarks.arms import Arms, Timed, running_arms
from benchmarks.figures import Figure, interleaved, ratio
from benchmarks.graphs import Graph, chain, layered, wide
from benchmarks.services import running_services
from benchmarks.statements import Counted, counting

AIM = 1.5
GRAPHS = (chain(50), wide(96, 3), layered(10, 10, 10))
WARM = chain(5)


async def measure(rounds: int = 5, graphs: Sequence[Graph] = GRAPHS) -> list[Figure]:
    """Milliseconds per task of both arms and their ratio; then what one task asks of PostgreSQL."""
    with running_services() as services:
        async with running_arms(services) as arms:
            await arms.engine(WARM)
            await arms.bare(WARM)
            figures = [figure for graph in graphs for figure in await _graph(arms, graph, rounds)]
            with counting(arms.db.engine) as counted:
                await arms.engine(graphs[0])
            return figures + _statements(counted, graphs[0])


async def _graph(arms: Arms, graph: Graph, rounds: int) -> list[Figure]:
    timed: dict[str, list[Timed]] = {"engine": [], "bare": []}

    async def engine() -> float:
        timed["engine"].append(await arms.engine(graph))
        return timed["engine"][-1].tasks_s

    async def bare() -> float:
        timed["bare"].append(await arms.bare(graph))
        return timed["bare"][-1].tasks_s

    ours, theirs = await interleaved((engine, bare), rounds)
    cpu = [statistics.median(each.cpu_s for each in timed[arm]) for arm in ("engine", "bare")]
    return [
        Figure(f"{graph.name}: ratio", ratio(ours, theirs), "x", AIM),
        Figure(f"{graph.name}: engine", _per_task(ours, graph), "ms/task"),
        Figure(f"{graph.name}: bare Temporal", _per_task(theirs, graph), "ms/task"),
        Figure(f"{graph.name}: engine's CPU", cpu[0] * 1000 / len(graph.nodes), "ms/task"),
        Figure(f"{graph.name}: bare Temporal's CPU", cpu[1] * 1000 / len(graph.nodes), "ms/task"),
    ]


def _per_task(times: Sequence[float], graph: Graph) -> float:
    return statistics.median(times) * 1000 / len(graph.nodes)


def _statements(counted: Counted, graph: Graph) -> list[Figure]:
    """With the plan and the report shared out over the tasks."""
    tasks = len(graph.nodes)
    return [
        Figure("SQL statements", counted.statements / tasks, "per task"),
        Figure("of them through SQLAlchemy", counted.through_sqlalchemy / tasks, "per task"),
        Figure("connections taken from its pool", counted.checkouts / tasks, "per task"),
        Figure("time in statements", counted.seconds * 1000 / tasks, "ms/task"),
    ]
