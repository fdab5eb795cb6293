"""Build the `response` objects of the API, with the types of the `openai` package."""

from collections.abc import Mapping, Sequence
from typing import Any

from openai.types.responses import (
    Response,
    ResponseError,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseUsage,
)
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails
from pydantic import JsonValue

from holdfast.models.budget.spend_breakdown import Tokens
from holdfast.models.responses.stored_response import StoredResponse


def response_object(
    stored: StoredResponse,
    status: str,
    output: Sequence[ResponseOutputItem] = (),
    *,
    error: str = "",
    tokens: Tokens | None = None,
) -> Response:
    """The response in this state; `error` says why it failed."""
    request = stored.request
    # The tools are repeated as the client sent them; the openai package may not know their types.
    fields: dict[str, Any] = {
        "id": stored.id,
        "object": "response",
        "created_at": int(stored.created_at.timestamp()),
        "status": status,
        "background": request.background,
        "error": ResponseError(code="server_error", message=error) if error else None,
        "incomplete_details": None,
        "instructions": request.instructions,
        "max_tool_calls": request.max_tool_calls,
        "metadata": request.metadata,
        "model": request.model,
        "output": list(output),
        "parallel_tool_calls": True,
        "previous_response_id": request.previous_response_id,
        "tool_choice": "auto",
        "tools": [_tool(tool) for tool in request.tools],
        "usage": None if tokens is None else _usage(tokens),
    }
    return Response.model_construct(**fields)


def message_item(stored: StoredResponse, text: ResponseOutputText) -> ResponseOutputMessage:
    """The message that a response ends with."""
    return ResponseOutputMessage(
        id=f"msg_{stored.id}",
        type="message",
        role="assistant",
        status="completed",
        content=[text],
    )


def _tool(tool: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The tool with the fields that the API's own answers always have."""
    is_function = tool.get("type") == "function"
    return {**({"parameters": None, "strict": None} if is_function else {}), **tool}


def _usage(tokens: Tokens) -> ResponseUsage:
    """The tokens of the whole job."""
    return ResponseUsage(
        input_tokens=tokens.input,
        input_tokens_details=InputTokensDetails(cached_tokens=0, cache_write_tokens=0),
        output_tokens=tokens.output,
        output_tokens_details=OutputTokensDetails(reasoning_tokens=0),
        total_tokens=tokens.input + tokens.output,
    )
