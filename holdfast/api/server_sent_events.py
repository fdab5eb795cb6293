"""Stream the event log of a job as Server-Sent Events that a client can resume."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import timedelta

from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from holdfast.api.api_context import JobSession
from holdfast.api.event_feed import EventFeed
from holdfast.api.stream_slots import StreamSlot
from holdfast.models.errors import BadInput
from holdfast.storage.views.status_and_last_event import JobProgress, load_job_progress

_PING_INTERVAL_S = 15
READER_TIMEOUT = timedelta(seconds=60)
"""A reader that accepts no data for this time is disconnected; it can resume later."""
_NUMBER = re.compile(r"[0-9]{1,18}")


class EventStreamResponse(EventSourceResponse):
    """Send entries as events, and pings, until the job ends or the reader disconnects."""

    def __init__(
        self,
        events: AsyncIterator[bytes | ServerSentEvent],
        reads_within: timedelta,
        slot: StreamSlot,
    ) -> None:
        self._slot = slot
        within_s = reads_within.total_seconds()
        super().__init__(events, sep="\n", ping=_PING_INTERVAL_S, send_timeout=within_s)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            # The server closes the connection of an incomplete response.
            return
        finally:
            self._slot.give_back()


async def event_stream_response(job: JobSession, request: Request) -> Response:
    """Stream the log after the entry that the request names.

    Raises:
        BadInput: the log has no such entry.
        NotFound: there is no such job.
        StorageAway: PostgreSQL does not answer.
        TooManyRequests: the server or the caller has too many open streams.
    """
    context, job_id = job.context, job.id
    after = _last_received_entry(request)
    seen = await load_job_progress(job.holdfast.db, job_id)
    if after > seen.last_event:
        raise BadInput(
            f"the log of job {job_id!r} has {seen.last_event} entries, so none "
            f"after {after}; leave the number out to start with the first"
        )
    events = _events(context.following, job_id, after, seen)
    return EventStreamResponse(events, context.reads_within, context.streams.take(job.caller))


def _last_received_entry(request: Request) -> int:
    """Return the number of the last entry that the reader has; 0 for none.

    The header takes precedence: a reconnecting browser sends it with the original address.
    """
    text = request.headers.get("last-event-id", request.query_params.get("after", "0"))
    if not _NUMBER.fullmatch(text):
        raise BadInput(
            f"{text[:40]!r} is not the number of an entry; give the id of the last received event "
            "as Last-Event-ID or ?after="
        )
    return int(text)


async def _events(
    following: EventFeed, job_id: str, after: int, seen: JobProgress
) -> AsyncIterator[bytes | ServerSentEvent]:
    async with aclosing(following.batches(job_id, after, seen)) as batches:
        async for item in batches:
            if isinstance(item, JobProgress):
                yield _end_event(job_id, item)
            else:
                for chunk in item.chunks:
                    yield chunk


def _end_event(job_id: str, how: JobProgress) -> ServerSentEvent:
    """Return the event that ends the stream; without an id, so the last id is an entry's."""
    data = {"job_id": job_id, **how.model_dump(mode="json")}
    return ServerSentEvent(json.dumps(data), event="end", sep="\n")
