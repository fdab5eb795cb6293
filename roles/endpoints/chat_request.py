"""Build the body of a chat completion's request: messages, schema, tools and parameters."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from holdfast.models.calls.model_config import ModelConfig
from holdfast.models.calls.model_requests import Message, ModelRequest
from holdfast.models.text.schema_shape import schema_shape
from holdfast.roles.endpoints.native_functions import (
    function_lines,
    functions_schema,
    native_messages,
    tools_parameter,
)

RESPONSE_FORMATS = ("json_schema", "json_object", "text")
"""Ways to ask for JSON, strictest first; what an endpoint refuses is not tried again."""
NATIVE_FUNCTIONS = "tools"
"""The first way to offer functions: native tool calling; the others follow."""

_TAKES_MAX_COMPLETION_TOKENS = (".openai.com", ".openai.azure.com", ".groq.com")
"""Ends of hosts whose endpoints ask for `max_completion_tokens` (their API references)."""


_SHOWS_SCHEMA = (".openai.com", ".openai.azure.com", ".googleapis.com")
"""Ends of hosts that show the schema of a request to the model (their guides).

Servers that only hold the reply to a grammar leave the model in the dark about its fields.
"""


def shows_schema(config: ModelConfig, base_url: str) -> bool:
    """True if the model sees the schema of a request, so that the prompt need not repeat it."""
    if config.schema_in_prompt is not None:
        return not config.schema_in_prompt
    return ("." + (urlsplit(base_url).hostname or "")).endswith(_SHOWS_SCHEMA)


def rungs_of(request: ModelRequest) -> tuple[str, ...]:
    """Return the ways to ask for the answer, strictest first."""
    return (NATIVE_FUNCTIONS, *RESPONSE_FORMATS) if request.functions else RESPONSE_FORMATS


def output_limit_key(config: ModelConfig, base_url: str) -> str:
    """Return the key of a request by which the endpoint takes a limit of output tokens."""
    if config.output_limit_key:
        return config.output_limit_key
    host = "." + (urlsplit(base_url).hostname or "")
    is_new = host.endswith(_TAKES_MAX_COMPLETION_TOKENS)
    return "max_completion_tokens" if is_new else "max_tokens"


def request_parameters(config: ModelConfig, limit_key: str) -> dict[str, Any]:
    """Return the parameters of each request to the model, as its table sets them."""
    named = {
        "temperature": config.temperature,
        "top_p": config.top_p,
        "seed": config.seed,
        "reasoning_effort": config.reasoning_effort,
        limit_key: config.max_output_tokens,
    }
    return {name: value for name, value in named.items() if value is not None} | dict(
        config.extra_body
    )


def messages_with_schema(request: ModelRequest) -> tuple[Message, ...]:
    """The messages with the schema in the system turn.

    As a short type: it takes a fifth of the tokens. Only here, since it is not part of the work
    that the request's hash names.
    """
    schema = functions_schema(request) if request.functions else request.answer_schema
    if not schema:
        return request.messages
    line = f"Answer with one JSON object of this type, and nothing else:\n{schema_shape(schema)}"
    if request.functions:
        line = f"{function_lines(request.functions)}\n{line}"
    first, *rest = request.messages or (Message(role="system", content=""),)
    if first.role != "system":
        return (Message(role="system", content=line), *request.messages)
    return (Message(role="system", content=f"{first.content}\n\n{line}".strip()), *rest)


def has_required_fields(text: str, schema: Mapping[str, Any]) -> bool:
    """True if the reply is a JSON object with all fields of the schema, as a strict endpoint's."""
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(reply, dict) and set(schema.get("required", ())) <= reply.keys()


def schema_words(request: ModelRequest) -> str:
    """The names that a reply has to repeat as they are."""
    offered = [each.model_dump(mode="json") for each in request.functions]
    return json.dumps([dict(request.answer_schema), offered])


def chat_body(
    request: ModelRequest,
    messages: Sequence[Message],
    rung: str,
    parameters: Mapping[str, Any],
    model: str,
) -> dict[str, Any]:
    """Return the body of the request that asks for the answer at this rung.

    `model` is the model's name at the endpoint, `messages` are those of `messages_with_schema`.
    """
    if rung == NATIVE_FUNCTIONS:
        own: dict[str, Any] = {
            "messages": native_messages(request.messages),
            "tools": tools_parameter(request.functions),
            "tool_choice": "required",
        }
    else:
        own = {"messages": [message.model_dump() for message in messages]}
        own |= _response_format(request, rung)
    return dict(parameters) | own | {"model": model}


def _response_format(request: ModelRequest, rung: str) -> dict[str, Any]:
    schema = functions_schema(request) if request.functions else dict(request.answer_schema)
    if rung == "text" or not schema:
        return {}
    if rung == "json_object":
        return {"response_format": {"type": "json_object"}}
    name = re.sub(r"[^A-Za-z0-9_-]", "_", request.role)[:64] or "answer"
    strict = {"name": name, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": strict}}
