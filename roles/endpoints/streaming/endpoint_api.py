"""Define what an API of an endpoint needs, so that one sender speaks them all.

Requests and replies have one form inside Holdfast, that of chat completions; another API translates
both.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import httpx2
from openai import AsyncAPIResponse, AsyncOpenAI

from holdfast.roles.endpoints.refusal_signs import STREAM_OPTIONS
from holdfast.roles.endpoints.streaming.event_stream import ServerEvent
from holdfast.roles.endpoints.streaming.streamed_reply import StreamedReply

OpenedReply: TypeAlias = AbstractAsyncContextManager[AsyncAPIResponse[Any]]


class GrowingReply(Protocol):
    """A reply, as far as its events have come."""

    @property
    def characters(self) -> int:
        """The number of characters that have come."""
        ...

    @property
    def is_complete(self) -> bool:
        """True once nothing of the reply is missing."""
        ...

    @property
    def is_over(self) -> bool:
        """True once the endpoint has said that the stream is over."""
        ...

    def add(self, event: ServerEvent) -> None:
        """Add what an event brings."""
        ...

    def body(self) -> str:
        """Return the whole reply as a chat completion."""
        ...


@dataclass(frozen=True)
class EndpointApi:
    """One API of an endpoint."""

    path: str
    streams: tuple[Mapping[str, Any], ...]
    """What a request says of streaming, the best first; the last is not streamed."""
    request_of: Callable[[Mapping[str, Any]], dict[str, Any]]
    """The request in place of a chat completion's."""
    opened: Callable[[AsyncOpenAI, Mapping[str, Any]], OpenedReply]
    """The answer to a streamed request, once it has begun."""
    growing: Callable[[httpx2.Request], GrowingReply]
    whole: Callable[[str, httpx2.Request], Awaitable[str]]
    """A reply that came at once, as a chat completion; raises the error that it may be instead."""


def _open_chat(client: AsyncOpenAI, body: Mapping[str, Any]) -> OpenedReply:
    return client.chat.completions.with_streaming_response.create(
        model=body["model"], messages=[], stream=True, extra_body=dict(body)
    )


async def _as_it_is(text: str, _: httpx2.Request) -> str:
    return text


CHAT = EndpointApi(
    path="/chat/completions",
    streams=({"stream": True, STREAM_OPTIONS: {"include_usage": True}}, {"stream": True}, {}),
    request_of=dict,
    opened=_open_chat,
    growing=StreamedReply,
    whole=_as_it_is,
)
