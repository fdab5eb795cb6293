"""Answer a question with pydantic-ai's agent and one search tool (runs in the peers' environment).

Reads the order as JSON from standard input, and prints the answer as JSON.
"""

import asyncio
import json
import sys
from typing import Any

import httpx
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

_PASSAGES = 4
_TIMEOUT_S = 1_800
_INSTRUCTIONS = (
    "Answer the question from the documents, which you can only see through the search tool. "
    "Search step by step; make several calls in one turn where none needs the result of another. "
)


async def main() -> None:
    """Run the agent on the order."""
    order = json.load(sys.stdin)
    client = AsyncOpenAI(
        base_url=f"{order['address']}/v1", api_key="none", timeout=_TIMEOUT_S, max_retries=0
    )
    model = OpenAIChatModel(order["run"], provider=OpenAIProvider(openai_client=client))
    searches = 0

    async def search(query: str) -> str:
        """Search the documents by words."""
        nonlocal searches
        searches += 1
        return await _found(order, query)

    agent = Agent(model, instructions=_INSTRUCTIONS + order["cite"], tools=[search])
    result: Any = await agent.run(order["question"], usage_limits=UsageLimits(request_limit=60))
    sys.stdout.write(json.dumps({"text": result.output, "searches": searches}))


async def _found(order: dict[str, str], query: str) -> str:
    asked = {"collection": order["collection"], "query": query, "limit": _PASSAGES}
    async with httpx.AsyncClient(timeout=60) as client:
        reply = await client.post(f"{order['address']}/search", json=asked)
        reply.raise_for_status()
    return "\n\n".join(f"[{each['title']}]\n{each['text']}" for each in reply.json())


if __name__ == "__main__":
    asyncio.run(main())
