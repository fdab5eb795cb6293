"""MCP server whose tools fail on request, over stdio or, with a port, streamable HTTP."""

import logging
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ImageContent, ToolAnnotations
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

logging.basicConfig(level=logging.WARNING)  # before MCPServer, which would set up rich tracebacks

REPEATABLE = ToolAnnotations(read_only_hint=True)
lab = MCPServer("lab")


@lab.tool(annotations=REPEATABLE)
def echo(text: str) -> str:
    """Give the text back."""
    return text


@lab.tool(annotations=REPEATABLE)
def search(query: str, collection: str) -> dict[str, Any]:
    """Passages about the query in a collection."""
    passage = {"address": f"doc:{collection}", "title": "One", "text": query, "start": 7, "end": 99}
    return {"passages": [passage, {"text": "bare"}]}


@lab.tool(annotations=REPEATABLE)
async def hang(seconds: float) -> str:
    await anyio.sleep(seconds)
    return "awake"


@lab.tool(structured_output=False)
def big(size: int) -> str:
    return "x" * size


@lab.tool()
def big_value(size: int) -> list[str]:
    return ["x" * 100] * (size // 100)


@lab.tool()
def fail() -> str:
    raise ToolError("the archive is closed on Sundays")


@lab.tool(structured_output=False)
def nothing() -> list[str]:
    return []


@lab.tool(structured_output=False)
def picture() -> ImageContent:
    return ImageContent(type="image", data="aGVsbG8=", mime_type="image/png")


@lab.tool(structured_output=False)
def nul() -> str:
    return "a\x00b"


@lab.tool()
def seen(ctx: Context[Any]) -> dict[str, Any]:
    """What reached the server of its environment and headers."""
    request = ctx.request_context.request
    headers = getattr(request, "headers", {})
    return {"env": os.environ.get("LAB_SECRET"), "header": headers.get("x-lab"), "pid": os.getpid()}


@lab.tool()
def exit_now() -> str:
    os._exit(3)


@lab.tool(annotations=REPEATABLE)
def exit_first(marker: str) -> str:
    """Dies when it is called for the first time, as the marker file tells."""
    return _survive(Path(marker))


@lab.tool()
def exit_first_unsafely(marker: str) -> str:
    return _survive(Path(marker))


@lab.tool(annotations=REPEATABLE)
def exit_always() -> str:
    os._exit(3)


def _survive(marker: Path) -> str:
    if not marker.exists():
        marker.touch()
        os._exit(3)
    return "survived"


lab.add_tool(lambda: "not reached", name="cut_off")
for status in (401, 429, 500, 504):
    lab.add_tool(lambda: "not reached", name=f"http_{status}")


async def _cut_off(scope: Scope, receive: Receive, send: Send) -> None:
    head = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": b"{", "more_body": True})


class RequestFilter:
    """Turns away calls of tools named `http_STATUS`, strangers, and on request new clients."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.token = app, os.environ.get("LAB_TOKEN")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {key.decode(): value.decode() for key, value in scope.get("headers", ())}
        name = headers.get("mcp-name", "")
        app: ASGIApp = self.app
        if scope["type"] == "http" and self.token and headers.get("authorization") != self.token:
            app = PlainTextResponse("who are you?", 401)
        elif os.environ.get("LAB_OLDER") and headers.get("mcp-method") == "server/discover":
            app = PlainTextResponse("what is that?", 404)
        elif name == "cut_off":
            app = _cut_off
        elif name.startswith("http_"):
            app = PlainTextResponse("no", int(name[5:]), {"retry-after": "30"})
        await app(scope, receive, send)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        http = RequestFilter(lab.streamable_http_app())
        uvicorn.run(http, port=int(sys.argv[1]), log_level="warning", timeout_graceful_shutdown=1)
    else:
        lab.run()
