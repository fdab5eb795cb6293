"""HTTP server with a tool, a model and a plain endpoint that counts and times the calls of a
worker in another process.

It lives in the benchmark's own process, so that it outlives every worker that is killed.
"""

import asyncio
import hashlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from benchmarks.setup.timed_stand_ins import TimedModel, value_page
from holdfast.roles.planning.planner import PLANNER
from holdfast.roles.reports.condenser import CONDENSER
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.roles.verification.sentence_checker import SENTENCE_CHECKER

_ROLES = (PLANNER, EXTRACTOR, REASONER, SYNTHESISER, CONDENSER, SENTENCE_CHECKER)


@dataclass(frozen=True)
class CallSnapshot:
    """What had been called at one moment."""

    begun: int
    ended: frozenset[str]
    in_flight: frozenset[str]


@dataclass
class CountedCalls:
    """Tool calls take `latency_s`, model calls no time; each is known by what it asks for.

    Tool calls after the first `held_after` wait for `release` and then get no answer: a killed
    worker made them.
    """

    model: TimedModel
    latency_s: float = 0.0
    begun: list[str] = field(default_factory=list)
    ended: set[str] = field(default_factory=set)
    tool_times_s: list[float] = field(default_factory=list)
    last_tool_ended: float = 0.0
    held_after: int | None = None
    address: str = ""
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def forget(self) -> None:
        """Start counting again, for another job."""
        with self._changed:
            self.begun.clear()
            self.ended.clear()
            self.tool_times_s.clear()

    def hold_after(self, count: int) -> None:
        """Let the tool calls after the next `count` wait, so that a kill finds them in flight."""
        with self._changed:
            self.held_after = count

    def release(self) -> None:
        """Answer the calls that begin from now on."""
        with self._changed:
            self.held_after = None
            self._changed.notify_all()

    @property
    def tools_begun(self) -> int:
        """The number of tool calls that have begun."""
        return len(self.tool_times_s)

    def seen(self) -> CallSnapshot:
        with self._changed:
            ended = frozenset(self.ended)
            return CallSnapshot(len(self.begun), ended, frozenset(self.begun) - ended)

    def since(self, then: CallSnapshot) -> list[str]:
        """The calls that began after that moment."""
        with self._changed:
            return self.begun[then.begun :]

    async def wait_for_tool_calls(self, count: int, *, within_s: float = 600) -> None:
        """Wait for so many tool calls.

        Raises:
            TimeoutError: they did not come.
        """
        if not await asyncio.to_thread(self._wait, count, within_s):
            raise TimeoutError(f"{self.tools_begun} of {count} calls in {within_s:g} s")

    async def wait_for_new_tool_call(self, than: CallSnapshot, *, within_s: float = 600) -> float:
        """Wait for a tool call that had not begun then; gives the moment.

        Raises:
            TimeoutError: none came.
        """
        if not await asyncio.to_thread(self._wait_for_another, than, within_s):
            raise TimeoutError(f"no further call in {within_s:g} s")
        return time.perf_counter()

    def _is_held(self) -> bool:
        with self._changed:
            return self.held_after is not None and self.tools_begun > self.held_after

    def _wait_for_release(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self.held_after is None)

    def _wait_for_another(self, than: CallSnapshot, within_s: float) -> bool:
        known = than.ended | than.in_flight

        def has_begun() -> bool:
            later = self.begun[than.begun :]
            return any(key.startswith("tool ") and key not in known for key in later)

        with self._changed:
            return self._changed.wait_for(has_begun, within_s)

    def _wait(self, count: int, within_s: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self.tools_begun >= count, within_s)

    def begin(self, key: str, *, is_tool: bool) -> None:
        with self._changed:
            self.begun.append(key)
            if is_tool:
                self.tool_times_s.append(time.perf_counter())
            self._changed.notify_all()

    def end(self, key: str, *, is_tool: bool) -> None:
        with self._changed:
            self.ended.add(key)
            if is_tool:
                self.last_tool_ended = time.perf_counter()

    async def work(self, name: str) -> str:
        """One call of the tool, by whichever way it came."""
        key = f"tool {name}"
        self.begin(key, is_tool=True)
        if self._is_held():
            await asyncio.to_thread(self._wait_for_release)
            return ""
        await asyncio.sleep(self.latency_s)
        self.end(key, is_tool=True)
        return value_page(name + self.model.edition, len(self.ended))


@contextmanager
def serve_counted_calls(calls: CountedCalls) -> Iterator[None]:
    """Serve MCP at /mcp, an OpenAI-compatible model at /v1 and plain calls at /work/NAME."""
    # With the protocol named, or asyncio leaves Nagle's algorithm on: 40 ms a call.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    calls.address = f"127.0.0.1:{listening.getsockname()[1]}"
    app = _mcp_server(calls).streamable_http_app()
    app.router.routes += _routes(calls)
    config = uvicorn.Config(app, log_config=None, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(10)


def _mcp_server(calls: CountedCalls) -> MCPServer:
    server = MCPServer("timed")

    @server.tool(
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True),
        structured_output=False,
    )
    async def look_up(query: str) -> str:
        """Look a value up."""
        return await calls.work(query.partition(" ")[0])

    return server


def _routes(calls: CountedCalls) -> list[BaseRoute]:
    async def plain(request: Request) -> Response:
        return PlainTextResponse(await calls.work(request.path_params["name"]))

    async def chat(request: Request) -> Response:
        asked = await request.json()
        key = f"model {hashlib.sha256(json.dumps(asked).encode()).hexdigest()}"
        calls.begin(key, is_tool=False)
        answer = _answer(calls.model, asked)
        calls.end(key, is_tool=False)
        return JSONResponse(answer)

    return [
        Route("/work/{name}", plain),
        Route("/v1/chat/completions", chat, methods=["POST"]),
    ]


def _answer(model: TimedModel, asked: dict[str, Any]) -> dict[str, Any]:
    system, user = (turn["content"] for turn in asked["messages"][:2])
    role = next(role for role in _ROLES if system.startswith(role.instructions.strip()))
    content = json.dumps(model.answer(role.name, json.loads(user)))
    message = {"role": "assistant", "content": content}
    return {
        "id": "timed",
        "object": "chat.completion",
        "created": 0,
        "model": asked["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 700, "completion_tokens": 60, "total_tokens": 760},
    }
