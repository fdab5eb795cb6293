"""OpenAI-compatible server on a free port that answers what a test scripts."""

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from holdfast.planning.text.token_estimates import estimate_tokens
from holdfast.roles.dialogue.role_definition import Role
from tests.support.endpoints.hosted_app import HostedApp
from tests.support.endpoints.scripted_responses import (
    BackgroundResponses,
    chat_request,
    response_events,
    response_object,
)
from tests.support.endpoints.streamed_answers import stream_events
from tests.support.endpoints.strict_answers import schema_fault, strict_answer, with_empty_fields


@dataclass(frozen=True)
class ScriptedReply:
    """One answer of the server; `raw` is sent as it is, `drop` breaks the connection.

    A request that asks for a stream gets one. In the middle of it, the connection breaks (`drop`),
    or the server stands still for `stall` seconds, or it ends there (`is_cut`).
    """

    content: str | None = "{}"
    status: int = 200
    error: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    finish: str | None = "stop"
    refusal: str | None = None
    usage: Mapping[str, object] | Literal["counted"] | None = "counted"
    raw: bytes | None = None
    media_type: str = "application/json"
    drop: bool = False
    stall: float = 0.0
    is_cut: bool = False
    calls: tuple[tuple[str, object], ...] = ()
    """Tool calls by name and arguments, in the form that the request asks for; text as it is."""
    is_lax: bool = False
    """True for a reply of an endpoint that takes a schema and does not hold its replies to it."""

    @property
    def has_completion(self) -> bool:
        """True if this is a chat completion, and neither an error nor bytes."""
        return self.raw is None and self.error is None

    @classmethod
    def calling(cls, *calls: tuple[str, object], delay: float = 0.0) -> Self:
        """A reply that calls functions: natively, or as JSON where no tools were offered."""
        return cls(content=None, calls=calls, delay=delay)

    @classmethod
    def of(
        cls, answer: object, *, delay: float = 0.0, stall: float = 0.0, is_lax: bool = False
    ) -> Self:
        """A reply whose content is this value as JSON."""
        return cls(content=json.dumps(answer), delay=delay, stall=stall, is_lax=is_lax)

    @classmethod
    def playing(cls, role: Role[Any, Any], answer: JsonValue) -> Self:
        """A reply of a strict endpoint in this role: with all fields of its answer."""
        return cls.of(answer).completed(role)

    @classmethod
    def lax(cls, answer: object) -> Self:
        """A reply of an endpoint that does not hold its replies to their schema."""
        return cls.of(answer, is_lax=True)

    def completed(self, role: Role[Any, Any]) -> Self:
        """This reply with all fields of the role's answer; as it is if it is lax or no JSON."""
        if self.is_lax or self.content is None or self.finish != "stop":
            return self
        try:
            answer = strict_answer(role, json.loads(self.content))
        except ValueError:
            return self
        return replace(self, content=json.dumps(answer))


class TaskFields(dict[str, Any]):
    """An object of a task, of which the prompt leaves out what has its default."""

    def __missing__(self, name: str) -> Any:
        if name == "concludes":
            return "tools" in self  # the planner's default; the report's writer has another
        if name == "guidance" and "node" in self:
            return ""  # an agent's supervisor gives one, people give planners several
        texts = dict.fromkeys(("settled_by", "note", "must_end"), "")
        return {"required": True, "values": {}, **texts}.get(name, [])


@dataclass(frozen=True)
class ReceivedRequest:
    """One request as it came in, refused ones too."""

    body: dict[str, Any]
    headers: Mapping[str, str]
    client: tuple[str, int] | None = None
    """The other end of the connection."""
    is_response: bool = False
    """True if the Responses API was asked; the body is that of the same chat completion."""

    @property
    def system(self) -> str:
        return next((turn["content"] for turn in self.turns if turn["role"] == "system"), "")

    @property
    def task(self) -> dict[str, Any]:
        """The typed task: the first user message, parsed."""
        said = next(turn["content"] for turn in self.turns if turn["role"] == "user")
        return TaskFields(json.loads(said, object_hook=TaskFields))

    @property
    def turns(self) -> list[dict[str, str]]:
        return list(self.body["messages"])

    @property
    def rung(self) -> str:
        """How JSON was asked for: `tools`, `json_schema`, `json_object` or `text`."""
        if self.body.get("tools"):
            return "tools"
        return str((self.body.get("response_format") or {}).get("type", "text"))

    @property
    def answer_schema(self) -> dict[str, Any]:
        """The schema that the reply has to fit; of a request at the rung `json_schema`."""
        return dict(self.body["response_format"]["json_schema"]["schema"])

    @property
    def is_correction(self) -> bool:
        return any(turn["role"] == "assistant" for turn in self.turns)

    def plays(self, role: Role[Any, Any]) -> bool:
        """Whether this asks for the role; told by its instructions, at any rung.

        Another release may have a sentence more in their middle.
        """
        if self.system.startswith(role.instructions.strip()):
            return True
        said, own, whole = (
            " ".join(text.split()) for text in (self.system, role.instructions, role.system)
        )
        ending = whole[len(own) - _TOLD_BY :]
        return said.startswith(own[:_TOLD_BY]) and ending in said


_TOLD_BY = 100
"""Characters at the beginning and at the end of its instructions that tell a role from others."""

Responder: TypeAlias = Callable[[ReceivedRequest], ScriptedReply]
ResponseFormats: TypeAlias = Collection[str]


class ScriptedModel(HostedApp):
    """Answers from the queue, then from the responder; counts what it was asked, by any process.

    It is strict: a reply that breaks the schema of its request is answered with 400, and the block
    ends with an error. A test about other endpoints marks its replies as lax, or the endpoint as not
    strict.

    with ScriptedModel() as model:
        model.push(Reply.of({"tasks": []}))
        ... model.url ...
    """

    def __init__(
        self,
        responder: Responder | None = None,
        *,
        supports: ResponseFormats = ("tools", "json_schema", "json_object"),
        refusal_status: int = 400,
        streams: bool = True,
        is_strict: bool = True,
    ) -> None:
        """A server that does not stream ignores that it is asked to, and knows no background."""
        self._streams = streams
        self.left = 0
        """Streams whose client has left before their end."""
        self.responses = BackgroundResponses()
        self._making: set[asyncio.Task[None]] = set()
        self.asked: list[ReceivedRequest] = []
        self._is_strict = is_strict
        self._faults: list[str] = []
        self.most_at_once = 0
        self._at_once = 0
        self._responder = responder
        self._supports = set(supports)
        self._refusal_status = refusal_status
        self._queue: deque[ScriptedReply] = deque()
        self._changed = threading.Condition()
        self._releases = 0
        super().__init__(self._app())

    @property
    def url(self) -> str:
        """The base url, with /v1."""
        return f"{self.address}/v1"

    @property
    def count(self) -> int:
        """How many requests came in, refused ones too."""
        with self._changed:
            return len(self.asked)

    def push(self, *replies: ScriptedReply) -> None:
        """Queues replies; each is given once."""
        with self._changed:
            self._queue.extend(replies)

    def wait_for(self, count: int, *, within: float = 20.0) -> None:
        """Returns once so many requests came in; in async tests, use `asyncio.to_thread`.

        Raises:
            TimeoutError: they did not.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.asked) >= count, within):
                raise TimeoutError(f"{len(self.asked)} requests came in {within} s, not {count}")

    def wait_for_left(self, count: int, *, within: float = 20.0) -> None:
        """Return once so many clients have left a stream before its end.

        Raises:
            TimeoutError: they did not.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self.left >= count, within):
                raise TimeoutError(f"{self.left} clients left in {within} s, not {count}")

    def wait_until(self, holds: Callable[[], bool], *, within: float = 20.0) -> None:
        """Return once something holds that a request changes.

        Raises:
            TimeoutError: it did not come to hold.
        """
        with self._changed:
            if not self._changed.wait_for(holds, within):
                raise TimeoutError(f"it did not hold within {within} s")

    def release(self) -> None:
        """Give every reply that waits for its delay now."""
        self._releases += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, at)
        # Also where the test went on: a 400 may be what it expects.
        if self._faults and error is None:
            raise AssertionError("\n".join(dict.fromkeys(self._faults)))

    def _app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._chat, methods=["POST"]),
                Route("/v1/responses", self._respond, methods=["POST"]),
                Route("/v1/responses/{id}", self._response),
                Route("/v1/responses/{id}/cancel", self._cancel, methods=["POST"]),
                Route("/v1/models", _models),
            ]
        )

    async def _chat(self, request: Request) -> Response:
        asked = ReceivedRequest(
            await request.json(), dict(request.headers), request.client and tuple(request.client)
        )
        async with self._under_way(asked):
            if refusal := self._refusal(asked):
                return refusal
            reply = self._next(asked)
            await self._wait(reply.delay)
            if refusal := self._strict_refusal(reply, asked):
                return refusal
            if not self._is_streamed(reply, asked):
                return _response(reply, asked)
            events = stream_events(_completion(reply, asked), asked.body, ends=not reply.is_cut)
            return self._streaming(reply, events)

    async def _respond(self, request: Request) -> Response:
        asked = ReceivedRequest(
            chat_request(await request.json()), dict(request.headers), is_response=True
        )
        async with self._under_way(asked):
            if refusal := self._refusal(asked):
                return refusal
            reply = self._next(asked)
            if not reply.has_completion:
                return _response(reply, asked)
            if refusal := self._strict_refusal(reply, asked):
                return refusal
            response_id = self.responses.begin()
            response = response_object(_completion(reply, asked), response_id)
            if asked.body.get("background") and self._streams:
                self._making.add(asyncio.create_task(self._make(reply, response)))
                return JSONResponse(self.responses.made[response_id])
            await self._wait(reply.delay)
            if not self._is_streamed(reply, asked):
                return JSONResponse(response)
            return self._streaming(reply, response_events(response))

    async def _make(self, reply: ScriptedReply, response: dict[str, Any]) -> None:
        await self._wait(reply.delay)
        self.responses.end(response)

    async def _response(self, request: Request) -> Response:
        response_id = request.path_params["id"]
        with self._changed:
            self.responses.polled.append(response_id)
            self._changed.notify_all()
        response = self.responses.made.get(response_id)
        return _no_response(response_id) if response is None else JSONResponse(response)

    async def _cancel(self, request: Request) -> Response:
        response_id = request.path_params["id"]
        with self._changed:
            response = self.responses.cancel(response_id)
            self._changed.notify_all()
        return _no_response(response_id) if response is None else JSONResponse(response)

    @asynccontextmanager
    async def _under_way(self, asked: ReceivedRequest) -> AsyncIterator[None]:
        self._arrived(asked)
        try:
            yield
        finally:
            with self._changed:
                self._at_once -= 1

    def _refusal(self, asked: ReceivedRequest) -> Response | None:
        """The refusal of a way of asking that the server does not know."""
        if asked.rung == "text" or asked.rung in self._supports:
            return None
        what = "tools" if asked.rung == "tools" else f"response_format.type {asked.rung!r}"
        return _refused(self._refusal_status, {"message": f"{what} is not supported"})

    def _strict_refusal(self, reply: ScriptedReply, asked: ReceivedRequest) -> Response | None:
        """The refusal of a script whose reply a strict endpoint would never have written."""
        if not self._is_strict or not (fault := _strict_fault(reply, asked)):
            return None
        self._faults.append(fault)
        return _refused(400, {"message": fault})

    def _is_streamed(self, reply: ScriptedReply, asked: ReceivedRequest) -> bool:
        return bool(self._streams and asked.body.get("stream") and reply.has_completion)

    def _streaming(self, reply: ScriptedReply, events: Iterable[bytes]) -> Response:
        return StreamingResponse(self._stream(reply, list(events)), media_type="text/event-stream")

    async def _stream(self, reply: ScriptedReply, events: Sequence[bytes]) -> AsyncIterator[bytes]:
        middle, is_over = len(events) // 2, False
        try:
            for position, event in enumerate(events):
                if position == middle:
                    await self._wait(reply.stall)
                    if reply.drop:
                        is_over = True
                        raise ConnectionAbortedError("dropped as scripted")
                yield event
            is_over = True
        finally:
            with self._changed:
                self.left += not is_over
                self._changed.notify_all()

    async def _wait(self, seconds: float) -> None:
        releases, loop = self._releases, asyncio.get_running_loop()
        end = loop.time() + seconds
        while (left := end - loop.time()) > 0 and self._releases == releases:
            await asyncio.sleep(min(left, 0.02))

    def _arrived(self, asked: ReceivedRequest) -> None:
        with self._changed:
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            self._changed.notify_all()

    def _next(self, asked: ReceivedRequest) -> ScriptedReply:
        with self._changed:
            if self._queue:
                return self._queue.popleft()
        if self._responder:
            return self._responder(asked)
        return ScriptedReply(status=400, error={"message": "the script of this model is over"})


def _strict_fault(reply: ScriptedReply, asked: ReceivedRequest) -> str | None:
    """Why an endpoint that holds its schema would not send this reply; None if it would."""
    is_whole = reply.finish == "stop" and not reply.refusal and not reply.is_cut
    has_content = reply.has_completion and not reply.drop
    if reply.is_lax or not is_whole or not has_content or asked.rung != "json_schema":
        return None
    asks = asked.body["response_format"]["json_schema"]
    fault = schema_fault(_said(reply, asked)["content"], asked.answer_schema)
    return f"no strict endpoint sends this script's {asks['name']}: {fault}" if fault else None


async def _models(_: Request) -> Response:
    model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "tests"}
    return JSONResponse({"object": "list", "data": [model]})


def _response(reply: ScriptedReply, asked: ReceivedRequest) -> Response:
    if reply.drop:
        return StreamingResponse(_broken(), media_type=reply.media_type)
    if reply.raw is not None:
        return Response(
            reply.raw, reply.status, headers=dict(reply.headers), media_type=reply.media_type
        )
    if reply.error is not None:
        return _refused(reply.status, reply.error, reply.headers)
    return JSONResponse(_completion(reply, asked), headers=dict(reply.headers))


def _no_response(response_id: str) -> Response:
    text = f"Response with id '{response_id}' not found."
    return _refused(404, {"message": text, "type": "invalid_request_error", "param": "id"})


async def _broken() -> AsyncIterator[bytes]:
    yield b"{"
    raise ConnectionAbortedError("dropped as scripted")


def _refused(status: int, error: object, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": error}, status, headers=dict(headers or {}))


def _completion(reply: ScriptedReply, asked: ReceivedRequest) -> dict[str, object]:
    message = _said(reply, asked)
    choice = {"index": 0, "message": message, "finish_reason": reply.finish, "logprobs": None}
    usage = _counted(reply, asked) if reply.usage == "counted" else reply.usage
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.body["model"],
        "choices": [choice],
        "usage": usage,
    }


def _said(reply: ScriptedReply, asked: ReceivedRequest) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    return message | _called(reply, asked) if reply.calls else message


def _called(reply: ScriptedReply, asked: ReceivedRequest) -> dict[str, object]:
    if asked.rung != "tools":
        calls = [{"name": name, "arguments": arguments} for name, arguments in reply.calls]
        content: JsonValue = {"calls": calls}
        if asked.rung == "json_schema":
            content = with_empty_fields(content, asked.answer_schema)
        return {"content": json.dumps(content)}
    tool_calls = [
        {
            "id": f"call_{n}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for n, (name, arguments) in enumerate(reply.calls)
    ]
    return {"tool_calls": tool_calls}


def _counted(reply: ScriptedReply, asked: ReceivedRequest) -> dict[str, object]:
    told = estimate_tokens(reply.content or "")
    heard = sum(estimate_tokens(turn["content"] or "") for turn in asked.turns)
    return {
        "prompt_tokens": heard,
        "completion_tokens": told,
        "total_tokens": heard + told,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
