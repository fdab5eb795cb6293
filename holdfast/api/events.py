"""A job's log as Server-Sent Events, to be resumed behind the last entry that was received."""

import json
import re
from collections.abc import AsyncIterator
from datetime import timedelta

from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from holdfast.api.following import Following
from models.errors import BadInput
from models.views import EventView
from storage.database import Database
from storage.progress import Standing, standing

_PING_S = 15
READS_WITHIN = timedelta(seconds=60)
"""A reader that takes nothing for so long is cut off; it can come back to where it was."""
_NUMBER = re.compile(r"[0-9]{1,18}")


class Stream(EventSourceResponse):
    """Entries as events, pings between them, until the job has ended or the reader is gone."""

    def __init__(self, events: AsyncIterator[ServerSentEvent], reads_within: timedelta) -> None:
        within_s = reads_within.total_seconds()
        super().__init__(events, sep="\n", ping=_PING_S, send_timeout=within_s)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            # A response that is not brought to its end has its connection closed.
            return


async def stream(
    db: Database, following: Following, job_id: str, request: Request, *, reads_within: timedelta
) -> Response:
    """The log behind the entry that the request names.

    Raises:
        BadInput: it names none that the log has.
        NotFound: there is no such job.
        StorageAway: PostgreSQL does not answer.
    """
    after = _after(request)
    seen = await standing(db, job_id)
    if after > seen.last_event:
        raise BadInput(
            f"the log of job {job_id!r} has {seen.last_event} entries, so there is nothing "
            f"behind {after}; leave it out to begin with the first"
        )
    return Stream(_events(following, job_id, after, seen), reads_within)


def _after(request: Request) -> int:
    """The number of the last entry that the reader has; 0 for none.

    The header wins: a browser that reconnects sends it with the address that it began with.
    """
    given = request.headers.get("last-event-id", request.query_params.get("after", "0"))
    if not _NUMBER.fullmatch(given):
        raise BadInput(
            f"{given[:40]!r} is no entry's number; give the id of the last event that you received "
            "as Last-Event-ID or ?after="
        )
    return int(given)


async def _events(
    following: Following, job_id: str, after: int, seen: Standing
) -> AsyncIterator[ServerSentEvent]:
    async for each in following.entries(job_id, after, seen):
        yield _entry(each) if isinstance(each, EventView) else _end(job_id, each)


def _entry(entry: EventView) -> ServerSentEvent:
    return ServerSentEvent(entry.model_dump_json(), event=entry.kind, id=str(entry.seq), sep="\n")


def _end(job_id: str, how: Standing) -> ServerSentEvent:
    """Without an id, so that the reader's last one stays that of an entry."""
    data = {"job_id": job_id, **how.model_dump(mode="json")}
    return ServerSentEvent(json.dumps(data), event="end", sep="\n")
