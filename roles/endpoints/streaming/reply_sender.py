"""Send a request for a reply, and read the reply as it is written where that is possible."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
from openai import APIConnectionError, AsyncOpenAI, OpenAIError

from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.calls.model_config import ModelConfig
from holdfast.roles.endpoints.bounded_replies import is_event_stream
from holdfast.roles.endpoints.endpoint_errors import refused_part_of_stream
from holdfast.roles.endpoints.refusal_signs import STREAM_OPTIONS
from holdfast.roles.endpoints.remembered_rungs import RememberedRungs
from holdfast.roles.endpoints.reply_errors import ReplyBroken
from holdfast.roles.endpoints.streaming.endpoint_api import EndpointApi, GrowingReply
from holdfast.roles.endpoints.streaming.event_stream import EventReader

_LARGE = 100_000  # bytes that a thread reads, so that the event loop goes on
_AFTER_FINISH_S = 5.0
"""Seconds for the usage, once the model has said why it stopped."""
_AFTER_END_S = 1.0
"""Seconds until the connection ends, once the endpoint has said that the stream is over."""


class ReplySender:
    """Sends requests to one API of an endpoint; remembers which of them may not be streamed."""

    def __init__(
        self, client: AsyncOpenAI, api: EndpointApi, config: ModelConfig, timeout_s: float
    ) -> None:
        self._client = client
        self._api = api
        self._config = config
        self._timeout_s = timeout_s
        self._remembered = RememberedRungs()

    async def send(
        self, body: Mapping[str, Any], progress: CallProgress
    ) -> str | OpenAIError | TimeoutError:
        """The reply to a chat completion's request, as its body, or why there is none."""
        streams = self._api.streams
        if not self._config.stream:
            return await self._try(body, streams[-1], progress)
        way = (body["model"], _format_of(body))
        first = rung = self._remembered.first(way)
        outcome = await self._try(body, streams[rung], progress)
        while rung + 1 < len(streams) and (part := refused_part_of_stream(outcome)):
            rung = rung + 1 if part == STREAM_OPTIONS else len(streams) - 1
            outcome = await self._try(body, streams[rung], progress)
        if rung > first and isinstance(outcome, str):
            # Not on an error: one that quotes our text may only look like such a refusal.
            self._remembered.remember(way, rung)
        return outcome

    async def _try(
        self, body: Mapping[str, Any], stream: Mapping[str, Any], progress: CallProgress
    ) -> str | OpenAIError | TimeoutError:
        progress.received_chars = 0
        request = self._api.request_of({**body, **stream})
        try:
            # The client's own timeout is per read: a server that trickles would hold us forever.
            async with asyncio.timeout(self._timeout_s):
                if stream:
                    return await self._streamed(request, progress)
                response = await self._client.post(
                    self._api.path, cast_to=httpx2.Response, body=request
                )
                return await self._api.whole(response.text, response.request)
        except (OpenAIError, TimeoutError) as error:
            return error

    async def _streamed(self, body: Mapping[str, Any], progress: CallProgress) -> str:
        """Read a stream of events; an endpoint that answers at once instead is read as it is.

        Raises:
            TimeoutError: nothing came in time.
            OpenAIError: the endpoint refused, failed, stood still or broke off.
        """
        reply: GrowingReply | None = None
        try:
            async with (
                asyncio.timeout(self._config.first_byte_s) as clock,
                self._api.opened(self._client, body) as response,
            ):
                if not is_event_stream(response.headers):
                    clock.reschedule(None)
                    text = (await response.read()).decode(errors="replace")
                    return await self._api.whole(text, response.http_request)
                progress.is_streamed = True
                reply = self._api.growing(response.http_request)
                await self._read(response.iter_bytes(), reply, clock, progress)
        except TimeoutError:
            if reply is None or not (reply.characters or reply.is_complete):
                raise
            if not reply.is_complete:
                raise _broken(f"sent nothing for {self._config.silence_s:g} s", reply) from None
        except httpx2.TransportError as error:
            if reply is None:
                raise APIConnectionError(request=error.request) from error
            if not reply.is_complete:
                raise _broken("broke the connection off", reply) from None
        assert reply is not None, "a stream that ended well has a reply"
        return reply.body()

    async def _read(
        self,
        chunks: AsyncIterator[bytes],
        reply: GrowingReply,
        clock: asyncio.Timeout,
        progress: CallProgress,
    ) -> None:
        reader, loop = EventReader(), asyncio.get_running_loop()
        async for chunk in chunks:
            for event in reader.feed(chunk):
                if len(event.data) > _LARGE:
                    await asyncio.to_thread(reply.add, event)
                else:
                    reply.add(event)
            progress.received_chars = reply.characters
            # A packed stream gives many pieces at once: other tasks get their turn between them.
            await asyncio.sleep(0)
            if (patience := self._patience_s(reply)) is not None:
                clock.reschedule(loop.time() + patience)
        for event in reader.end():
            reply.add(event)

    def _patience_s(self, reply: GrowingReply) -> float | None:
        """The seconds that the next bytes may take; None before the reply has begun.

        Some models think silently after an event that holds only their role.
        """
        if reply.is_over:
            return _AFTER_END_S
        if reply.is_complete:
            return _AFTER_FINISH_S
        return self._config.silence_s if reply.characters else None


def _format_of(body: Mapping[str, Any]) -> str:
    """Return how the request asks for JSON: some endpoints stream only one of the ways."""
    return "tools" if "tools" in body else str(body.get("response_format", {}).get("type"))


def _broken(what: str, reply: GrowingReply) -> ReplyBroken:
    return ReplyBroken(f"{what}, after {reply.characters:,} characters of its reply")
