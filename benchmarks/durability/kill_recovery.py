"""Measure what a SIGKILL in the middle of a job costs in seconds and in repeated calls."""

import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

from benchmarks.peers import peer_process
from benchmarks.peers.peer_process import Peer
from benchmarks.setup.benchmark_figures import MeasuredFigure, median_ratio, time_interleaved
from benchmarks.setup.counted_calls import CountedCalls
from benchmarks.setup.counted_installation import (
    CountedInstallation,
    WorkerKill,
    counted_installation,
)
from benchmarks.setup.job_graphs import JobGraph, layered_graph

TASK_S = 0.2
GRAPH = layered_graph(4, 10, 4)
OVER_IDEAL_AIM_S = 2.0
SAME_WORK_AIM = 0.7
OURS = "Holdfast"


@dataclass(frozen=True)
class RecoveryRound:
    """One round: seconds from the kill, and what was called again.

    `first_call_s` is when the next tool call begins; the other times are those over the ideal.
    """

    over_ideal_s: float
    first_call_s: float
    last_call_s: float
    finished_again: int
    in_flight_again: int


RecoveryArm = Callable[[JobGraph], Awaitable[RecoveryRound]]


async def measure(
    rounds: int = 5, graph: JobGraph = GRAPH, task_s: float = TASK_S
) -> list[MeasuredFigure]:
    """Each arm runs the job, is killed when half of it is done, and starts again at once."""
    async with counted_installation(task_s) as here:
        arms: dict[str, RecoveryArm] = {OURS: partial(_holdfast, here)}
        arms |= {name: partial(_peer, here.calls, peer) for name, peer in _peers(here).items()}
        rounds_of: dict[str, list[RecoveryRound]] = {name: [] for name in arms}

        async def one(name: str) -> float:
            here.calls.forget()
            found = await arms[name](graph)
            rounds_of[name].append(found)
            return found.over_ideal_s

        for name in arms:  # the first of each makes tables and fills caches
            await one(name)
            rounds_of[name].clear()
        await time_interleaved([partial(one, name) for name in arms], rounds)
    figures = [figure for name, found in rounds_of.items() for figure in _figures(name, found)]
    return figures + _compared(rounds_of)


def _peers(here: CountedInstallation) -> dict[str, Peer]:
    if not peer_process.are_peers_installed():
        print(f"recovery: {peer_process.PEERS_MISSING}", file=sys.stderr)
        return {}
    url, address = here.endpoints.database_url, here.calls.address
    return {
        name: peer_process.prepare_peer(name, url, address) for name in peer_process.PEER_MODULES
    }


async def _holdfast(here: CountedInstallation, graph: JobGraph) -> RecoveryRound:
    await here.wait_until_worker_is_old_enough()
    here.calls.hold_after(graph.size // 2)
    handle = await here.submit(graph)
    await _half_is_done(here.calls, graph)
    killed = here.kill_worker()
    here.calls.release()
    await here.answered(handle)
    return _recovered(here.calls, graph, killed)


async def _peer(calls: CountedCalls, peer: Peer, graph: JobGraph) -> RecoveryRound:
    job_id = f"job-{uuid4().hex[:12]}"
    calls.hold_after(graph.size // 2)
    async with peer.running(job_id, graph, is_again=False) as process:
        await _half_is_done(calls, graph)
        process.kill()
        killed = WorkerKill(time.perf_counter(), calls.seen())
        calls.release()
    async with peer.running(job_id, graph, is_again=True) as process:
        await peer_process.wait_until_done(process)
        return _recovered(calls, graph, killed)


async def _half_is_done(calls: CountedCalls, graph: JobGraph) -> None:
    """Until half of the calls came back and every slot has one in flight."""
    await calls.wait_for_tool_calls(graph.size // 2 + graph.slots, within_s=60)


def _recovered(calls: CountedCalls, graph: JobGraph, killed: WorkerKill) -> RecoveryRound:
    """Read when the job is done.

    Raises:
        RuntimeError: the kill came at another moment than half of the job.
    """
    now = time.perf_counter()
    if len(killed.seen.in_flight) != graph.slots:
        raise RuntimeError(f"{sorted(killed.seen.in_flight)} were in flight at the kill")
    ideal_s = (graph.size // 2) / graph.slots * calls.latency_s
    again = calls.since(killed.seen)
    return RecoveryRound(
        over_ideal_s=now - killed.at_s - ideal_s,
        first_call_s=next(at_s for at_s in calls.tool_times_s if at_s > killed.at_s) - killed.at_s,
        last_call_s=calls.last_tool_ended - killed.at_s - ideal_s,
        finished_again=sum(key in killed.seen.ended for key in again),
        in_flight_again=sum(key in killed.seen.in_flight for key in again),
    )


def _figures(name: str, found: list[RecoveryRound]) -> list[MeasuredFigure]:
    is_ours = name == OURS
    over = [each.over_ideal_s for each in found]
    return [
        MeasuredFigure(
            f"{name}: kill to done, over the ideal",
            statistics.median(over),
            "s",
            OVER_IDEAL_AIM_S if is_ours else None,
            f"{min(over):.2f} to {max(over):.2f}",
        ),
        MeasuredFigure(
            f"{name}: kill to the first call",
            statistics.median(each.first_call_s for each in found),
            "s",
        ),
        MeasuredFigure(
            f"{name}: kill to the last call's answer, over the ideal",
            statistics.median(each.last_call_s for each in found),
            "s",
        ),
        MeasuredFigure(
            f"{name}: finished calls made again",
            max(each.finished_again for each in found),
            "calls",
            0 if is_ours else None,
            "most of a round",
        ),
        MeasuredFigure(
            f"{name}: calls in flight made again",
            statistics.median(each.in_flight_again for each in found),
            "calls",
        ),
    ]


def _compared(rounds_of: dict[str, list[RecoveryRound]]) -> list[MeasuredFigure]:
    """Our seconds as ratios to those of the peer with the better median.

    To the last answer the systems do the same work; after it, only Holdfast writes a report.
    """
    whole = {name: [each.over_ideal_s for each in found] for name, found in rounds_of.items()}
    calls = {name: [each.last_call_s for each in found] for name, found in rounds_of.items()}
    return [
        *_ratio(whole, "kill to done, over the ideal", aim=1.0),
        *_ratio(calls, "kill to the last call's answer, over the ideal", aim=SAME_WORK_AIM),
    ]


def _ratio(seconds: dict[str, list[float]], what: str, aim: float) -> Iterator[MeasuredFigure]:
    peers = [name for name in seconds if name != OURS]
    if peers:
        best = min(peers, key=lambda peer: statistics.median(seconds[peer]))
        ratio = median_ratio(seconds[OURS], seconds[best])
        yield MeasuredFigure(f"{OURS} to {best}: {what}", ratio, "x", aim)
