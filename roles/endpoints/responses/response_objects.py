"""Read an object of the Responses API, and turn it into the body of a chat completion.

So the reader of replies, and what is recorded of a call, are the same for both.
"""

import asyncio
import json
from typing import Annotated, Any

import httpx2
from openai import APIStatusError
from pydantic import BaseModel, Field, TypeAdapter

from holdfast.roles.endpoints.chat_replies import (
    Count,
    InputDetails,
    Otherwise,
    OutputDetails,
    TextOrNone,
    parse_fields,
)
from holdfast.roles.endpoints.reply_errors import ReplyBroken, ReplyIncomplete

_ID = r"^[A-Za-z0-9_][A-Za-z0-9_.:=-]{0,499}$"
_LARGE = 100_000  # characters
_OPEN = {"queued", "in_progress"}
_FINISHES = {"max_output_tokens": "length", "content_filter": "content_filter"}
_STATUS_OF = {"server_error": 500, "rate_limit_exceeded": 429}
"""The HTTP status of a failed response by its error's code; what is not here cannot pass."""
_LASTING_STATUS = 400


class _Part(BaseModel):
    type: TextOrNone = None
    text: Annotated[str, Otherwise("")] = ""
    refusal: Annotated[str, Otherwise("")] = ""


class _Item(BaseModel):
    type: TextOrNone = None
    content: Annotated[list[_Part], Otherwise([])] = []
    name: Annotated[str, Otherwise("")] = ""
    arguments: Annotated[str, Otherwise("")] = ""

    def texts(self, kind: str, name: str) -> str:
        """Return the texts of the message's parts of this type."""
        return "".join(getattr(part, name) for part in self.content if part.type == kind)


class _Usage(BaseModel):
    input_tokens: Count = 0
    output_tokens: Count = 0
    input_tokens_details: Annotated[InputDetails, Otherwise(InputDetails())] = InputDetails()
    output_tokens_details: Annotated[OutputDetails, Otherwise(OutputDetails())] = OutputDetails()


class _Error(BaseModel):
    code: TextOrNone = None
    message: TextOrNone = None


class _Incomplete(BaseModel):
    reason: TextOrNone = None


class ResponseObject(BaseModel):
    """The fields of a response that are read."""

    id: Annotated[Annotated[str, Field(pattern=_ID)], Otherwise("")] = ""
    """Empty if it could be no part of an address; then nobody can ask for the response."""
    status: str
    model: TextOrNone = None
    output: Annotated[list[_Item], Otherwise([])] = []
    usage: Annotated[_Usage | None, Otherwise(None)] = None
    error: Annotated[_Error | None, Otherwise(None)] = None
    incomplete_details: Annotated[_Incomplete | None, Otherwise(None)] = None

    @property
    def is_open(self) -> bool:
        """True if the endpoint still works on the response."""
        return self.status in _OPEN

    def chat_completion(self, request: httpx2.Request) -> str:
        """Return the response as the body of a chat completion.

        Raises:
            APIStatusError: the response failed.
            ReplyBroken: somebody has cancelled the response.
        """
        if self.status == "failed":
            raise _failure(self.error or _Error(), request)
        if self.status == "cancelled":
            raise ReplyBroken(f"has cancelled the response {self.id}")
        messages = [item for item in self.output if item.type == "message"]
        calls = [
            {"function": {"name": item.name, "arguments": item.arguments}}
            for item in self.output
            if item.type == "function_call"
        ]
        message = {
            "content": "".join(item.texts("output_text", "text") for item in messages),
            "refusal": "".join(item.texts("refusal", "refusal") for item in messages) or None,
            "tool_calls": calls or None,
        }
        choice = {"message": message, "finish_reason": self._finish()}
        return json.dumps({"model": self.model, "choices": [choice], "usage": self._usage()})

    def _finish(self) -> str:
        if self.status != "incomplete":
            return "stop"
        reason = self.incomplete_details and self.incomplete_details.reason
        return _FINISHES.get(reason or "", reason or "length")

    def _usage(self) -> dict[str, Any] | None:
        if self.usage is None:
            return None
        return {
            "prompt_tokens": self.usage.input_tokens,
            "completion_tokens": self.usage.output_tokens,
            "prompt_tokens_details": self.usage.input_tokens_details.model_dump(),
            "completion_tokens_details": self.usage.output_tokens_details.model_dump(),
        }


_RESPONSE = TypeAdapter(Annotated[ResponseObject | None, Otherwise(None)])


async def read_response(text: str) -> ResponseObject:
    """Return the response in a body; a thread reads a long one, so that the event loop goes on.

    Raises:
        ReplyIncomplete: there is none.
    """
    try:
        response = (
            parse_fields(_RESPONSE, text)
            if len(text) <= _LARGE
            else await asyncio.to_thread(parse_fields, _RESPONSE, text)
        )
    except ValueError:
        response = None
    if response is None:
        raise ReplyIncomplete(
            f'did not answer with a response but with: {text[:150] or "nothing"}; `api = "chat"` '
            "asks for chat completions"
        )
    return response


def failed_status(code: str | None) -> int:
    """Return the HTTP status that an error with this code would have had."""
    return _STATUS_OF.get(code or "server_error", _LASTING_STATUS)


def _failure(error: _Error, request: httpx2.Request) -> APIStatusError:
    response = httpx2.Response(failed_status(error.code), request=request)
    message = error.message or "the response failed"
    return APIStatusError(message, response=response, body={"message": message, "code": error.code})
