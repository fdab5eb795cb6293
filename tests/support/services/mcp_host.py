"""Talk to the MCP server over HTTP as a host does, with the SDK's own client."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from tests.support.services.http_service import HttpService


@asynccontextmanager
async def mcp_host(
    serving: HttpService, *, key: str | None = None, url: str = "", **options: Any
) -> AsyncIterator[Client]:
    """A client with this key, or with the installation's token; `url` is a proxy's address."""
    headers = {"Authorization": f"Bearer {serving.token if key is None else key}"}
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http:
        transport = streamable_http_client(f"{url or serving.url}/mcp", http_client=http)
        async with Client(transport, **options) as client:
            yield client


async def answer_of(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What the tool answers, as JSON."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    answer = result.structured_content or json.loads(text_of(result))
    assert isinstance(answer, dict)
    return answer


async def text_answer_of(client: Client, tool: str, **arguments: Any) -> str:
    """What the tool answers, as text."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result)


async def refusal_of(client: Client, tool: str, **arguments: Any) -> str:
    """Why the tool refuses the call."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text
