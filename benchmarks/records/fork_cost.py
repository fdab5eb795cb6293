"""Count which calls of a finished job are paid again when one of its tasks is changed.

A job of 32 calls in four chains has ended, and a task in the middle of one chain is to run again:
four calls depend on the change. Each system forks its own finished job in the way that it
documents: Holdfast forks from the task, LangGraph goes back to the state before the task, Temporal
resets the workflow to the decision that started the task, and DBOS forks from the task's step.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

from temporalio import activity
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from benchmarks.engine.bare_temporal import BareGraph, BareJob, BareTask
from benchmarks.peers import peer_process
from benchmarks.peers.peer_job_interface import call_endpoint
from benchmarks.peers.peer_process import Peer
from benchmarks.setup.benchmark_figures import MeasuredFigure
from benchmarks.setup.counted_calls import CountedCalls
from benchmarks.setup.counted_installation import CountedInstallation, counted_installation
from benchmarks.setup.job_graphs import LAST_TASK, JobGraph, parallel_chains
from holdfast.records.fork_submission import ForkSubmission
from holdfast.records.job_forking import fork_job

TASK_S = 0.05
"""Long enough that the layers of all systems stay in step, which is best for those that repeat
whatever came later."""
GRAPH = parallel_chains(4, 8, 4)
CHANGED = "T17"
"""The fifth task of the first chain."""
OPTIMUM = 4
_QUEUE = "fork-bench"

ForkArm = Callable[[JobGraph, str], Awaitable[None]]
"""Runs the job to its end, forgets the counts, and forks the job from the task."""


async def measure(
    graph: JobGraph = GRAPH, changed: str = CHANGED, optimum: int = OPTIMUM
) -> list[MeasuredFigure]:
    """The calls of the job's tasks that each system makes for the fork."""
    figures = []
    async with counted_installation(TASK_S) as here:
        arms: dict[str, ForkArm] = {
            "Holdfast, fork": partial(_holdfast, here),
            "Temporal, reset": partial(_temporal, here),
        }
        arms |= _peer_arms(here)
        for name, arm in arms.items():
            here.calls.forget()
            here.calls.model.edition = ""
            await arm(graph, changed)
            made = [key for key in here.calls.begun if key.startswith("tool ")]
            asked = len(here.calls.begun) - len(made)
            figures.append(
                MeasuredFigure(
                    f"{name}: calls of {graph.size} made again",
                    len(made),
                    "calls",
                    optimum if name.startswith("Holdfast") else None,
                    f"and {asked} of its model, with the report" if asked else "",
                )
            )
    return figures


async def _holdfast(here: CountedInstallation, graph: JobGraph, changed: str) -> None:
    handle = await here.submit(graph)
    await here.answered(handle)
    _change(here.calls)
    forked = await fork_job(
        here.holdfast, handle.id, ForkSubmission(tasks=(changed,)), owner="", by="bench"
    )
    await here.answered(here.client.get_workflow_handle(forked.job_id))


@dataclass(frozen=True)
class _CountedWork:
    """The activity of the bare workflow, whose calls are counted."""

    calls: CountedCalls

    @activity.defn(name="bare_task")
    async def work(self, task: BareTask) -> str:
        if task.task_id != LAST_TASK:
            await call_endpoint(self.calls.address, task.task_id)
        return task.task_id


async def _temporal(here: CountedInstallation, graph: JobGraph, changed: str) -> None:
    worker = Worker(
        here.client,
        task_queue=_QUEUE,
        workflows=[BareGraph],
        activities=[_CountedWork(here.calls).work],
        workflow_runner=UnsandboxedWorkflowRunner(),
    )
    needs = {task.id: task.needs for task in graph.tasks}
    job_id = f"bare-{uuid4().hex[:12]}"
    async with worker:
        job = BareJob(needs=needs, slots=graph.slots, sleep_s=0)
        await here.client.execute_workflow("bare_graph", job, id=job_id, task_queue=_QUEUE)
        _change(here.calls)
        run_id = await _reset(here.client, job_id, changed)
        await here.client.get_workflow_handle(job_id, run_id=run_id).result()


async def _reset(client: Client, job_id: str, changed: str) -> str:
    """Reset the workflow to the decision that started the task; return the new run."""
    history = await client.get_workflow_handle(job_id).fetch_history()
    scheduled = next(
        event.activity_task_scheduled_event_attributes
        for event in history.events
        if event.HasField("activity_task_scheduled_event_attributes")
        and json.loads(event.activity_task_scheduled_event_attributes.input.payloads[0].data)[
            "task_id"
        ]
        == changed
    )
    answer = await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=job_id),
            reason=f"{changed} was changed",
            request_id=uuid4().hex,
            workflow_task_finish_event_id=scheduled.workflow_task_completed_event_id,
        )
    )
    return answer.run_id


def _peer_arms(here: CountedInstallation) -> dict[str, ForkArm]:
    if not peer_process.are_peers_installed():
        print(f"fork: {peer_process.PEERS_MISSING}", file=sys.stderr)
        return {}
    url, address = here.endpoints.database_url, here.calls.address
    ways = {"LangGraph": "time travel", "DBOS": "fork"}
    return {
        f"{name}, {way}": partial(_peer, here.calls, peer_process.prepare_peer(name, url, address))
        for name, way in ways.items()
    }


async def _peer(calls: CountedCalls, peer: Peer, graph: JobGraph, changed: str) -> None:
    job_id = f"job-{uuid4().hex[:12]}"
    for is_again in (False, True):
        async with (
            asyncio.timeout(120),
            peer.running(job_id, graph, is_again=is_again, changed=changed) as process,
        ):
            await peer_process.wait_until_done(process)
        if not is_again:
            _change(calls)


def _change(calls: CountedCalls) -> None:
    """Count from now on, and let calls find other values: every call behind the change differs."""
    calls.forget()
    calls.model.edition = "-new"
