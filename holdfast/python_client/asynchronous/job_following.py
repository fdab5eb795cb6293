"""Follow a job's log over disconnections and restarts of the server."""

import asyncio
import time
from collections.abc import AsyncIterator

import httpx2

from holdfast.python_client.answers import Event
from holdfast.python_client.api_errors import (
    ServerUnreachable,
    ServiceUnavailable,
    TooManyRequests,
    pause_after,
)
from holdfast.python_client.asynchronous.session import AsyncSession, _error
from holdfast.python_client.event_parser import EventParser, StreamEnd
from holdfast.python_client.jobs_and_reports import Job
from holdfast.python_client.request_paths import path_part

_LONGER = 10
"""How much longer than a request a followed job waits for its server."""
_RECONNECT_PAUSE_S = 0.5
_SILENCE_S = 45.0
"""The server sends a comment every 15 s, so a longer silence is a lost connection."""
_WAIT_S = 20.0


class AsyncJobFollowing(AsyncSession):
    """Follow jobs."""

    async def follow(self, job: str, *, after: int = 0) -> AsyncIterator[Event]:
        """Yield each entry of the job's log once and in order, until the job has ended.

        A lost connection is made again and continues with the next entry, also if the server was
        restarted meanwhile.

        Args:
            job: the id of the job.
            after: the number of the last entry that is known already.

        Raises:
            NotFound: there is no such job.
            ServerUnreachable: no server answers for ten times `patience_s`.
        """
        last, seen_at = after, time.monotonic()
        while True:
            try:
                async for item in self._stream(job, last):
                    seen_at = time.monotonic()
                    if isinstance(item, StreamEnd):
                        return
                    last = item.seq
                    yield item
                pause = _RECONNECT_PAUSE_S
            except (ServerUnreachable, ServiceUnavailable, TooManyRequests) as error:
                if time.monotonic() - seen_at > _LONGER * self.patience_s:
                    raise
                is_away = isinstance(error, ServerUnreachable)
                pause = _RECONNECT_PAUSE_S if is_away else pause_after(error)
            await asyncio.sleep(pause)

    async def wait(self, job: str, *, timeout_s: float | None = None) -> Job:
        """The job once it has ended, or as it is after `timeout_s` seconds.

        Raises:
            NotFound: there is no such job.
        """
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            rest = _WAIT_S if end is None else max(0.0, min(_WAIT_S, end - time.monotonic()))
            seen = await self._get(Job, f"/jobs/{path_part(job)}/wait", seconds=rest)
            if seen.has_ended or (end is not None and time.monotonic() >= end):
                return seen

    async def _stream(self, job: str, after: int) -> AsyncIterator[Event | StreamEnd]:
        """Yield what one connection brings."""
        parser = EventParser()
        timeout = httpx2.Timeout(_SILENCE_S)
        query = {"after": after}
        path = f"/jobs/{path_part(job)}/events"
        try:
            async with self._http.stream("GET", path, params=query, timeout=timeout) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise _error(answer)
                async for chunk in answer.aiter_bytes():
                    for item in parser.feed(chunk):
                        yield item
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
