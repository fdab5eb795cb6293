"""Read the events of a streamed response; the last one holds the whole response."""

import json
from dataclasses import dataclass
from typing import Annotated

import httpx2
from openai import APIStatusError
from pydantic import BaseModel, TypeAdapter

from holdfast.roles.endpoints.chat_replies import Otherwise, TextOrNone, parse_fields
from holdfast.roles.endpoints.reply_errors import ReplyIncomplete
from holdfast.roles.endpoints.responses.response_objects import (
    ResponseObject,
    failed_status,
)
from holdfast.roles.endpoints.streaming.event_stream import ServerEvent
from holdfast.roles.endpoints.streaming.streamed_reply import refuse_long_reply

_LAST = {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}
_ERROR = "error"


class _Nested(BaseModel):
    code: TextOrNone = None
    message: TextOrNone = None


class _Event(BaseModel):
    type: TextOrNone = None
    delta: Annotated[str, Otherwise("")] = ""
    """A piece of a text, of a refusal, of a summary of thoughts, or of a call's arguments."""
    response: Annotated[ResponseObject | None, Otherwise(None)] = None
    code: TextOrNone = None
    message: TextOrNone = None
    error: Annotated[_Nested | None, Otherwise(None)] = None


_EVENT = TypeAdapter(Annotated[_Event | None, Otherwise(None)])


@dataclass
class StreamedResponse:
    """A response, as far as its events have come."""

    request: httpx2.Request
    characters: int = 0
    response: ResponseObject | None = None

    @property
    def is_complete(self) -> bool:
        """True once the event with the whole response is there."""
        return self.response is not None

    is_over = is_complete

    def add(self, event: ServerEvent) -> None:
        """Add what an event brings.

        Raises:
            APIStatusError: the event is an error of the endpoint.
            ReplyRefused: the reply is too long.
            ReplyIncomplete: the event is none of a response.
        """
        try:
            fields = parse_fields(_EVENT, event.data)
        except ValueError:
            fields = None
        if fields is None:
            raise ReplyIncomplete(f"sent an event that is none of a response: {event.data[:200]}")
        if fields.type == _ERROR or event.is_error:
            raise self._failure(fields)
        self.characters += len(fields.delta)
        refuse_long_reply(self.characters)
        if fields.type in _LAST:
            self.response = fields.response

    def body(self) -> str:
        """Return the whole reply as a chat completion.

        Raises:
            OpenAIError: the response failed, was cancelled, or has not come to its end.
        """
        if self.response is None:
            raise ReplyIncomplete("ended its reply without the event `response.completed`")
        return self.response.chat_completion(self.request)

    def _failure(self, event: _Event) -> APIStatusError:
        nested = event.error or _Nested()
        code, message = event.code or nested.code, event.message or nested.message
        response = httpx2.Response(failed_status(code), request=self.request)
        body = {"code": code, "message": message or "the response failed"}
        return APIStatusError(json.dumps(body), response=response, body=body)
