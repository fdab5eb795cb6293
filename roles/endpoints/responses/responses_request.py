"""Turn a chat completion's request into one of the Responses API."""

from collections.abc import Iterator, Mapping
from typing import Any

_LIMITS = ("max_tokens", "max_completion_tokens")


def responses_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request in the form of `/responses`; keys that both have stay as they are.

    Nothing is stored at the endpoint that a chat completion would not be: `store` is false unless
    the table's `extra_body` says otherwise, or the response is one in the background.
    """
    rest = dict(body)
    request: dict[str, Any] = {"input": list(_input(rest.pop("messages")))}
    if form := rest.pop("response_format", None):
        request["text"] = {"format": form.pop("json_schema", {}) | form}
    if tools := rest.pop("tools", None):
        request["tools"] = [{"type": "function", "strict": False} | t["function"] for t in tools]
    for key in _LIMITS:
        if (limit := rest.pop(key, None)) is not None:
            request["max_output_tokens"] = limit
    if effort := rest.pop("reasoning_effort", None):
        request["reasoning"] = {"effort": effort}
    if not body.get("background"):
        request["store"] = False
    return request | rest


def _input(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in messages:
        if message["role"] == "tool":
            yield {
                "type": "function_call_output",
                "call_id": message["tool_call_id"],
                "output": message["content"],
            }
        elif calls := message.get("tool_calls"):
            for call in calls:
                yield {"type": "function_call", "call_id": call["id"]} | call["function"]
        else:
            yield {"role": message["role"], "content": message["content"]}
