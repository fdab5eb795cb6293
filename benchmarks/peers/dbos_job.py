"""Run the benchmark's layered task graph as a DBOS workflow, one DBOS step per task."""

import asyncio

from dbos import DBOS, SetWorkflowID

from benchmarks.peers.peer_job_interface import call_endpoint, print_done, read_peer_order
from benchmarks.setup.job_graphs import LAST_TASK, JobGraph

_LOOK_AGAIN_S = 0.01


@DBOS.step()
async def work(address: str, name: str) -> str:
    return await call_endpoint(address, name)


@DBOS.workflow()
async def job(address: str, layers: list[list[str]]) -> int:
    done = 0
    for layer in layers:
        done += len(await asyncio.gather(*(work(address, name) for name in layer)))
    return done


def _layers(graph: JobGraph) -> list[list[str]]:
    names = [task.id for task in graph.tasks if task.id != LAST_TASK]
    return [names[n : n + graph.slots] for n in range(0, len(names), graph.slots)]


async def main() -> None:
    order = read_peer_order()
    # One version and one executor, so that a launch takes over what its predecessor left.
    DBOS(
        config={
            "name": "recovery",
            "system_database_url": order.database_url,
            "application_version": "1",
            "executor_id": "bench",
            "log_level": "ERROR",
        }
    )
    DBOS.launch()
    if order.changed:
        # The steps are numbered as they start, which is layer by layer.
        step = int(order.changed.removeprefix("T"))
        handle = await DBOS.fork_workflow_async(order.job_id, step)
    elif order.is_again:
        handle = await DBOS.retrieve_workflow_async(order.job_id)
    else:
        with SetWorkflowID(order.job_id):
            handle = await DBOS.start_workflow_async(job, order.address, _layers(order.graph))
    assert await handle.get_result(polling_interval_sec=_LOOK_AGAIN_S) == order.graph.size
    print_done()


if __name__ == "__main__":
    asyncio.run(main())
