"""Cut a scripted chat completion into the events of a stream."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

_MOST_PIECES = 40
_PIECE = 16  # characters, of short texts


def stream_events(
    completion: Mapping[str, Any], asked: Mapping[str, Any], *, ends: bool = True
) -> Iterator[bytes]:
    """Yield the events as OpenAI sends them; a stream that does not end says no finish reason."""
    head = {key: completion[key] for key in ("id", "created", "model")} | {
        "object": "chat.completion.chunk"
    }
    (choice,) = completion["choices"]

    def event(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        part = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return sent_event(head | {"choices": [part], "usage": None})

    yield event({"role": "assistant", "content": ""})
    for delta in _deltas(choice["message"]):
        yield event(delta)
    if not ends:
        return
    yield event({}, choice["finish_reason"] or "stop")
    options = asked.get("stream_options") or {}
    if completion["usage"] is not None and options.get("include_usage"):
        yield sent_event(head | {"choices": [], "usage": completion["usage"]})
    yield b"data: [DONE]\n\n"


def sent_event(data: object) -> bytes:
    """Return one event with this data."""
    return f"data: {json.dumps(data)}\n\n".encode()


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name in ("content", "refusal"):
        for piece in _pieces(message.get(name) or ""):
            yield {name: piece}
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        first = call | {"index": index, "function": {"name": function["name"], "arguments": ""}}
        yield {"tool_calls": [first]}
        for piece in _pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str) -> Iterator[str]:
    size = max(_PIECE, len(text) // _MOST_PIECES + 1)
    return (text[begin : begin + size] for begin in range(0, len(text), size))
