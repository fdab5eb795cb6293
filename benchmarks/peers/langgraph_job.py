"""The layered job as a LangGraph StateGraph with its PostgreSQL saver and durability `sync`."""

import asyncio
from collections.abc import Awaitable, Callable
from operator import or_
from typing import Annotated, TypedDict

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, StateGraph

from benchmarks.peers.peer_job_interface import (
    PeerOrder,
    call_endpoint,
    print_done,
    read_peer_order,
)
from benchmarks.setup.job_graphs import LAST_TASK


class State(TypedDict):
    """What each task found, by its name."""

    found: Annotated[dict[str, str], or_]


def _built(order: PeerOrder) -> StateGraph:
    graph = StateGraph(State)
    for node in order.graph.tasks:
        if node.id == LAST_TASK:
            graph.add_edge(list(node.needs), END)
            continue
        graph.add_node(node.id, _work(order.address, node.id))
        graph.add_edge(list(node.needs) or START, node.id)
    return graph


def _work(address: str, name: str) -> Callable[[State], Awaitable[State]]:
    async def work(_: State) -> State:
        return {"found": {name: await call_endpoint(address, name)}}

    return work


async def main() -> None:
    order = read_peer_order()
    async with AsyncPostgresSaver.from_conn_string(order.database_url) as saver:
        if not order.is_again:
            await saver.setup()
        graph = _built(order).compile(checkpointer=saver)
        config = {"configurable": {"thread_id": order.job_id}}
        given = None if order.is_again else {"found": {}}
        if order.changed:
            # The history begins with the newest state: the last one before the task ran.
            config = await anext(
                past.config
                async for past in graph.aget_state_history(config)
                if order.changed in past.next
            )
        state = await graph.ainvoke(given, config, durability="sync")
        assert len(state["found"]) == order.graph.size
        print_done()


if __name__ == "__main__":
    asyncio.run(main())
