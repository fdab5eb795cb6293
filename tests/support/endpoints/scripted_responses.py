"""Serve scripted chat completions as objects of the Responses API, also in the background."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

_FINISHES = {"length": "max_output_tokens", "content_filter": "content_filter"}
_FORMATS = {"json_schema": ("name", "schema", "strict")}


def chat_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """The request as that of a chat completion, for scripts that read one; other keys stay."""
    rest = dict(body)
    messages = [_message(item) for item in rest.pop("input")]
    asked: dict[str, Any] = {"messages": messages}
    if text := rest.pop("text", None):
        form = text["format"]
        keys = _FORMATS.get(form["type"], ())
        asked["response_format"] = {"type": form["type"]} | (
            {"json_schema": {key: form[key] for key in keys}} if keys else {}
        )
    if tools := rest.pop("tools", None):
        asked["tools"] = [
            {"type": "function", "function": {key: tool[key] for key in ("name", "parameters")}}
            for tool in tools
        ]
    return rest | asked


def _message(item: Mapping[str, Any]) -> dict[str, Any]:
    match item.get("type"):
        case "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            call = {"id": item["call_id"], "type": "function", "function": function}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        case "function_call_output":
            return {"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]}
    return dict(item)


def response_object(completion: Mapping[str, Any], response_id: str) -> dict[str, Any]:
    """The response that says what the chat completion says."""
    (choice,) = completion["choices"]
    message, finish = choice["message"], choice["finish_reason"]
    parts: list[dict[str, Any]] = []
    if message.get("content"):
        parts.append({"type": "output_text", "text": message["content"], "annotations": []})
    if message.get("refusal"):
        parts.append({"type": "refusal", "refusal": message["refusal"]})
    output: list[dict[str, Any]] = [{"type": "reasoning", "id": "rs_1", "summary": []}]
    if parts:
        output.append({"type": "message", "role": "assistant", "content": parts})
    output += [
        {"type": "function_call", "call_id": call["id"], **call["function"]}
        for call in message.get("tool_calls") or ()
    ]
    reason = _FINISHES.get(finish or "")
    return {
        "id": response_id,
        "object": "response",
        "model": completion["model"],
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "output": output,
        "usage": _usage(completion["usage"]),
    }


def _usage(usage: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    return {
        "input_tokens": usage["prompt_tokens"],
        "output_tokens": usage["completion_tokens"],
        "input_tokens_details": usage.get("prompt_tokens_details"),
        "output_tokens_details": usage.get("completion_tokens_details"),
    }


def response_events(response: Mapping[str, Any]) -> Iterator[bytes]:
    """The events of a streamed response, as OpenAI sends them: the last holds all of it."""
    begun = {key: response[key] for key in ("id", "object", "model")} | {"status": "in_progress"}
    yield _event("response.created", response=begun | {"output": []})
    for item in response["output"]:
        for part in item.get("content") or ():
            for kind, name in (("output_text", "text"), ("refusal", "refusal")):
                if part["type"] == kind:
                    yield from _deltas(f"response.{kind}.delta", part[name])
        if item["type"] == "function_call":
            yield from _deltas("response.function_call_arguments.delta", item["arguments"])
    yield _event(f"response.{response['status']}", response=response)


def _deltas(kind: str, text: str) -> Iterator[bytes]:
    for begin in range(0, len(text), 16):
        yield _event(kind, delta=text[begin : begin + 16])


def _event(kind: str, **fields: object) -> bytes:
    data = json.dumps({"type": kind} | fields)
    return f"event: {kind}\ndata: {data}\n\n".encode()


@dataclass
class BackgroundResponses:
    """The responses that the endpoint makes in the background, whoever still waits for them."""

    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    polled: list[str] = field(default_factory=list)
    """The id of each question for a response."""
    cancelled: list[str] = field(default_factory=list)

    def begin(self) -> str:
        """The id of a new response, which is queued."""
        response_id = f"resp_{uuid4().hex}"
        self.made[response_id] = {"id": response_id, "object": "response", "status": "queued"}
        return response_id

    def end(self, response: dict[str, Any]) -> None:
        """Let a response be done, unless it was cancelled or forgotten."""
        if self.made.get(response["id"], {}).get("status") == "queued":
            self.made[response["id"]] = response

    def fail(self, response_id: str, code: str, message: str) -> None:
        """Let a response fail."""
        self.made[response_id] |= {
            "status": "failed",
            "error": {"code": code, "message": message},
        }

    def cancel(self, response_id: str) -> dict[str, Any] | None:
        """The cancelled response; None if there is none of that id."""
        response = self.made.get(response_id)
        if response is not None:
            self.cancelled.append(response_id)
            response["status"] = "cancelled"
        return response
