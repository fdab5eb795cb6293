"""Join the pieces of a streamed chat completion into the body that it has without streaming.

So one reader reads both, and a reply is recorded alike however it came. The names of fields are
those of OpenAI; the comments say which endpoint sends something else, and the tests in
`test_streamed_peculiarities` hold the recorded shapes.
"""

import json
from dataclasses import dataclass, field
from typing import Annotated, Any

import httpx2
from openai import APIStatusError
from pydantic import BaseModel, TypeAdapter

from holdfast.roles.endpoints.bounded_replies import MAX_ERROR_BYTES
from holdfast.roles.endpoints.chat_replies import (
    ContentPart,
    Otherwise,
    TextOrNone,
    Usage,
    parse_fields,
    text_of,
)
from holdfast.roles.endpoints.reply_errors import ReplyIncomplete, ReplyRefused
from holdfast.roles.endpoints.streaming.event_stream import ServerEvent

MAX_CHARACTERS = 2_000_000
"""Characters of the longest reply, with its thoughts and the arguments of its calls."""
MAX_CALLS = 1_000
_END = "[DONE]"
_FAILED_STATUS = 500  # of an error that names none: the endpoint failed after it had begun


class _Function(BaseModel):
    name: Annotated[str, Otherwise("")] = ""
    arguments: Annotated[str, Otherwise("")] = ""


class _CallPiece(BaseModel):
    index: Annotated[int | None, Otherwise(None)] = None
    id: TextOrNone = None
    function: Annotated[_Function, Otherwise(_Function())] = _Function()


class _Delta(BaseModel):
    content: Annotated[str | list[ContentPart] | None, Otherwise(None)] = None
    refusal: TextOrNone = None
    reasoning: TextOrNone = None  # Groq, OpenRouter, Ollama
    reasoning_content: TextOrNone = None  # DeepSeek, vLLM, llama.cpp
    tool_calls: Annotated[list[_CallPiece] | None, Otherwise(None)] = None


class _Choice(BaseModel):
    delta: Annotated[_Delta, Otherwise(_Delta())] = _Delta()
    finish_reason: TextOrNone = None


class _GroqPart(BaseModel):
    usage: Annotated[Usage | None, Otherwise(None)] = None


class _Error(BaseModel):
    message: TextOrNone = None
    code: Annotated[str | int | None, Otherwise(None)] = None
    status_code: Annotated[int | None, Otherwise(None)] = None
    type: TextOrNone = None
    param: TextOrNone = None
    failed_generation: TextOrNone = None

    @property
    def status(self) -> int:
        """The HTTP status that the error would have had before the reply began."""
        named = (self.status_code, int(str(self.code)) if str(self.code).isdecimal() else None)
        return next((status for status in named if status and 400 <= status < 600), _FAILED_STATUS)


class _Chunk(BaseModel):
    model: TextOrNone = None
    choices: Annotated[list[_Choice], Otherwise([])] = []
    usage: Annotated[Usage | None, Otherwise(None)] = None
    x_groq: Annotated[_GroqPart | None, Otherwise(None)] = None
    error: Annotated[_Error | str | None, Otherwise(None)] = None


_CHUNK = TypeAdapter(Annotated[_Chunk | None, Otherwise(None)])
_ERROR = TypeAdapter(Annotated[_Error | None, Otherwise(None)])


@dataclass
class _Call:
    """A call of a function, as far as it has come."""

    id: str
    name: str
    arguments: list[str]


@dataclass
class StreamedReply:
    """A chat completion, as far as its events have come."""

    request: httpx2.Request
    """The request, for the error that an event may bring."""
    characters: int = 0
    """All that the model has written, thoughts included."""
    is_complete: bool = False
    """True once the model has said why it stopped: what comes then is only the usage."""
    is_over: bool = False
    """True once the endpoint has said that the stream is over."""
    _texts: list[str] = field(default_factory=list)
    _refusals: list[str] = field(default_factory=list)
    _calls: list[_Call] = field(default_factory=list)
    _places: dict[int, _Call] = field(default_factory=dict)
    _finish: str | None = None
    _model: str | None = None
    _usage: Usage | None = None

    def add(self, event: ServerEvent) -> None:
        """Add what an event brings.

        Raises:
            APIStatusError: the event is an error of the endpoint.
            ReplyRefused: the reply is too long.
            ReplyIncomplete: the event is no piece of a chat completion.
        """
        text = event.data.strip()
        if text == _END:
            self.is_over = True
            return
        if not text:
            return
        try:
            chunk = parse_fields(_CHUNK, text)
        except ValueError:
            chunk = None
        if chunk is None:
            raise ReplyIncomplete(f"sent an event that is no chat completion: {text[:200]}")
        if event.is_error or chunk.error is not None:
            raise self._failure(chunk, text)
        self._add(chunk)

    def body(self) -> str:
        """Return the whole reply as the JSON of an answer without streaming.

        Raises:
            ReplyIncomplete: the model has not said why it stopped.
        """
        if not self.is_complete:
            raise ReplyIncomplete(
                "ended its reply without a `finish_reason`; `stream = false` asks for whole replies"
            )
        calls = [
            {"function": {"name": call.name, "arguments": "".join(call.arguments)}}
            for call in self._calls
        ]
        message = {
            "content": "".join(self._texts),
            "refusal": "".join(self._refusals) or None,
            "tool_calls": calls or None,
        }
        usage = self._usage and self._usage.model_dump()
        choice = {"message": message, "finish_reason": self._finish}
        return json.dumps({"model": self._model, "choices": [choice], "usage": usage})

    def _add(self, chunk: _Chunk) -> None:
        self._model = self._model or chunk.model
        # Older endpoints of Groq have the usage in a field of their own.
        self._usage = chunk.usage or (chunk.x_groq and chunk.x_groq.usage) or self._usage
        for choice in chunk.choices[:1]:
            delta = choice.delta
            thoughts = (delta.reasoning or "") + (delta.reasoning_content or "")
            text, refusal = text_of(delta.content), delta.refusal or ""
            self._count(len(thoughts) + len(text) + len(refusal))
            self._texts += [text] if text else []
            self._refusals += [refusal] if refusal else []
            for piece in delta.tool_calls or ():
                self._add_to_call(piece)
            if choice.finish_reason:
                self._finish, self.is_complete = choice.finish_reason, True

    def _add_to_call(self, piece: _CallPiece) -> None:
        """Add to the call that the piece continues, or begin one.

        Gemini sends no index, or 0 for every call; then a name or another id begins a call.
        """
        function, id_ = piece.function, piece.id or ""
        if piece.index is None:
            call = self._calls[-1] if self._calls and not function.name else None
        else:
            call = self._places.get(piece.index)
        if call is None or (id_ and call.id and id_ != call.id):
            if len(self._calls) == MAX_CALLS:
                raise ReplyRefused(f"its reply calls more than {MAX_CALLS:,} functions")
            call = _Call(id_, function.name, [])
            self._calls.append(call)
        if piece.index is not None:
            self._places[piece.index] = call
        call.id, call.name = call.id or id_, call.name or function.name
        call.arguments += [function.arguments] if function.arguments else []
        self._count(len(function.arguments))

    def _count(self, characters: int) -> None:
        self.characters += characters
        refuse_long_reply(self.characters)

    def _failure(self, chunk: _Chunk, text: str) -> APIStatusError:
        """Return the error as if the endpoint had answered with its status."""
        told = chunk.error
        error = told if isinstance(told, _Error) else _Error(message=told)
        if told is None:  # an event that is called an error has its fields at the top
            error = parse_fields(_ERROR, text[:MAX_ERROR_BYTES]) or error
        body: dict[str, Any] = error.model_dump(exclude_none=True)
        message = error.message or text[:300]
        response = httpx2.Response(error.status, request=self.request)
        return APIStatusError(message, response=response, body=body | {"message": message})


def refuse_long_reply(characters: int) -> None:
    """Refuse a reply that has more than `MAX_CHARACTERS`.

    Raises:
        ReplyRefused: the reply is too long.
    """
    if characters > MAX_CHARACTERS:
        raise ReplyRefused(
            f"its reply has more than {MAX_CHARACTERS:,} characters, which is the limit"
        )
