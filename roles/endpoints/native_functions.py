"""Offer functions to an endpoint by native tool calling, and read its tool calls.

A dialogue with functions is the same for every endpoint: the model's messages are `FunctionCalls`
as JSON, and the message after such a message has the results. Here both take the endpoint's form.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError

from holdfast.models.calls.function_calls import FunctionCalls
from holdfast.models.calls.model_requests import FunctionOffer, Message, ModelRequest

_RESULTS = "results"


def tools_parameter(functions: Iterable[FunctionOffer]) -> list[dict[str, Any]]:
    """The value of the request's `tools`."""
    return [
        {
            "type": "function",
            "function": {
                "name": each.name,
                "description": each.description,
                "parameters": dict(each.parameters),
            },
        }
        for each in functions
    ]


def native_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages with tool calls and tool results in place of their JSON."""
    turns: list[dict[str, Any]] = []
    open_ids: list[str] = []
    for position, message in enumerate(messages):
        calls = _calls(message)
        if calls:
            open_ids = [f"call_{position}_{n}" for n in range(len(calls))]
            turns.append(_assistant_turn(calls, open_ids))
        elif message.role == "user" and open_ids:
            turns += _tool_turns(message.content, open_ids)
            open_ids = []
        else:
            turns.append(message.model_dump())
    return turns


def calls_as_text(tool_calls: Iterable[tuple[str, str]]) -> str:
    """The tool calls of a reply, by name and arguments, as `FunctionCalls` in JSON.

    Arguments that are no JSON stay text: the reader says what is wrong with them.
    """
    calls = [{"name": name, "arguments": _arguments(text)} for name, text in tool_calls]
    return json.dumps({"calls": calls}, ensure_ascii=False)


def functions_schema(request: ModelRequest) -> dict[str, Any]:
    """The JSON Schema of a reply, for endpoints without tool calling."""
    return {
        "type": "object",
        "properties": {"calls": {"type": "array", "items": {"anyOf": _branches(request)}}},
        "required": ["calls"],
        "additionalProperties": False,
    }


def function_lines(functions: Iterable[FunctionOffer]) -> str:
    """What each function is for, for endpoints without tool calling."""
    lines = "\n".join(f"- {each.name}: {each.description}" for each in functions)
    return f"You call functions by your answer, one or several at once:\n{lines}"


def _branches(request: ModelRequest) -> list[dict[str, Any]]:
    return [
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": [each.name]},
                "arguments": dict(each.strict_parameters),
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for each in request.functions
    ]


def _calls(message: Message) -> list[tuple[str, str]]:
    if message.role != "assistant":
        return []
    try:
        reply = FunctionCalls.model_validate(json.loads(message.content))
    except (ValueError, ValidationError, RecursionError):
        return []
    return [
        (each.name, json.dumps(each.arguments, ensure_ascii=False, separators=(",", ":")))
        for each in reply.calls
    ]


def _assistant_turn(calls: Sequence[tuple[str, str]], ids: Sequence[str]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": at, "type": "function", "function": {"name": name, "arguments": arguments}}
            for at, (name, arguments) in zip(ids, calls, strict=True)
        ],
    }


def _tool_turns(content: str, ids: Sequence[str]) -> list[dict[str, Any]]:
    """The results, one for each call; what else the message says goes with the last."""
    parts = _results_by_call(content, len(ids))
    return [
        {"role": "tool", "tool_call_id": at, "content": part}
        for at, part in zip(ids, parts, strict=True)
    ]


def _results_by_call(content: str, count: int) -> list[str]:
    try:
        told = json.loads(content)
    except ValueError:
        told = None
    results = told.get(_RESULTS) if isinstance(told, dict) else None
    if not isinstance(results, list) or len(results) != count:
        return [content, *[""] * (count - 1)]
    parts = [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in results]
    rest = {name: value for name, value in told.items() if name != _RESULTS}
    if rest:
        parts[-1] += "\n" + json.dumps(rest, ensure_ascii=False, separators=(",", ":"))
    return parts


def _arguments(text: str) -> object:
    try:
        return json.loads(text or "{}", strict=False)
    except (ValueError, RecursionError):
        return text
