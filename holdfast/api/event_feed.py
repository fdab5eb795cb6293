"""Poll the event logs of all followed jobs and share new entries among all readers.

One query looks at all followed jobs, so its cost grows neither with the readers nor much with the
jobs, and it can be asked often. PostgreSQL's NOTIFY would take one lock of the whole server at each
commit of a task, and its LISTEN does not work behind a pooler of transactions.

No reader has a queue. A reader knows its position and takes the next entries when it is ready: from
the shared newest entries, or from PostgreSQL if it is further behind. So a slow reader costs no
memory, and a reader that reconnects misses nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import ValidationError

from holdfast.models.errors import StorageAway
from holdfast.models.views.job_views import EventView
from holdfast.storage.core.database import Database
from holdfast.storage.views.job_queries import events_after
from holdfast.storage.views.status_and_last_event import (
    JobProgress,
    load_job_progress,
    load_progress_of_jobs,
)

POLL_INTERVAL = timedelta(milliseconds=200)
"""Half of this is the median time after which a reader has an entry."""
_OUTAGE_INTERVAL_S = 1.0
"""How long the poller waits longer after PostgreSQL did not answer."""
_SHARED_ENTRIES = 200
"""How many of the newest entries all readers of a job share, and the size of one query."""


@dataclass
class FollowedJob:
    """The latest state of a followed job."""

    db: Database
    job_id: str
    standing: JobProgress
    newest: tuple[EventView, ...] = ()
    """The latest entries, without a gap."""
    readers: int = 0
    is_over: bool = False
    """True if nothing polls the job any more, so a reader would wait for ever."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def record_standing(self, seen: JobProgress, newest: tuple[EventView, ...] = ()) -> None:
        """Adopt a newer state, and wake the waiting readers."""
        if seen.last_event < self.standing.last_event:
            return
        self.newest = newest or self.newest
        if seen != self.standing:
            self.standing = seen
            self._wake()

    def end(self) -> None:
        """Disconnect the readers of the job."""
        self.is_over = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def change(self) -> None:
        """Wait until the state changes."""
        await self._changed.wait()

    async def adopt(self, seen: JobProgress) -> None:
        """Adopt a newer state, and read its new entries once for all readers.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        newest = self.newest[-1].seq if self.newest else self.standing.last_event
        if seen.last_event <= newest:
            self.record_standing(seen)
            return
        start = max(newest, seen.last_event - _SHARED_ENTRIES)
        added = await events_after(self.db, self.job_id, start, _SHARED_ENTRIES)
        before = self.newest if start == newest else ()
        self.record_standing(seen, (*before, *added)[-_SHARED_ENTRIES:])

    async def entries_after(self, seq: int) -> tuple[EventView, ...]:
        """Return the next entries after entry `seq`, at most one query's worth."""
        if self.newest and self.newest[0].seq <= seq + 1 <= self.newest[-1].seq:
            return self.newest[seq + 1 - self.newest[0].seq :]
        return tuple(await events_after(self.db, self.job_id, seq, _SHARED_ENTRIES))


class EventFeed:
    """All jobs that readers of this process follow."""

    def __init__(self, db: Database, *, look_every: timedelta = POLL_INTERVAL) -> None:
        self._db = db
        self._look_every_s = look_every.total_seconds()
        self._watches: dict[str, FollowedJob] = {}
        self._polling: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def readers(self) -> dict[str, int]:
        """Return the number of readers of each followed job."""
        return {job_id: watch.readers for job_id, watch in self._watches.items()}

    def close(self) -> None:
        """Disconnect all readers, because the process ends."""
        self._is_closed = True
        for watch in self._watches.values():
            watch.end()

    async def entries(
        self, job_id: str, after: int, seen: JobProgress
    ) -> AsyncIterator[EventView | JobProgress]:
        """Yield the job's entries after `after`, each once and in order; then the job's end.

        `seen` is the job's current state. While PostgreSQL does not answer, the reader waits. If
        the end is missing, the reader was disconnected and may continue from its last entry.
        """
        with self._watched(job_id, seen) as watch:
            while not watch.is_over:
                now = watch.standing
                if after < now.last_event:
                    for entry in await self._behind(watch, after):
                        yield entry
                        after = entry.seq
                elif now.has_ended and after == now.last_event:
                    yield now
                    return
                else:
                    await watch.change()

    async def wait_for_end(self, job_id: str, within: timedelta) -> None:
        """Wait until the job has ended, or until the time is over.

        Raises:
            NotFound: there is no such job.
            StorageAway: PostgreSQL does not answer.
        """
        seen = await load_job_progress(self._db, job_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(within.total_seconds()):
                # Entries that are stored already say nothing about the end.
                async for _ in self.entries(job_id, seen.last_event, seen):
                    continue

    async def _behind(self, watch: FollowedJob, after: int) -> tuple[EventView, ...]:
        try:
            return await watch.entries_after(after)
        except StorageAway:
            await asyncio.sleep(self._look_every_s)
            return ()

    @contextmanager
    def _watched(self, job_id: str, seen: JobProgress) -> Iterator[FollowedJob]:
        watch = self._watches.get(job_id)
        if watch is None or watch.is_over:
            watch = FollowedJob(self._db, job_id, seen, is_over=self._is_closed)
            self._watches[job_id] = watch
            if self._polling is None and not self._is_closed:
                self._polling = asyncio.create_task(self._poll())
        # The caller may have reopened the job a moment ago, before following it.
        watch.record_standing(seen)
        watch.readers += 1
        try:
            yield watch
        finally:
            watch.readers -= 1
            if watch.readers == 0 and self._watches.get(job_id) is watch:
                del self._watches[job_id]
                if not self._watches and self._polling is not None:
                    self._polling.cancel()
                    self._polling = None

    async def _poll(self) -> None:
        try:
            while not self._is_closed:
                await asyncio.sleep(self._look_every_s)
                try:
                    await self._look()
                except StorageAway:
                    await asyncio.sleep(_OUTAGE_INTERVAL_S)
        finally:
            # Whatever ended the polling, no reader may wait for ever.
            if asyncio.current_task() is self._polling:
                self._polling = None
                for watch in self._watches.values():
                    watch.end()

    async def _look(self) -> None:
        """Poll all followed jobs once.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        watches = tuple(self._watches.values())
        seen = await self._progress([each.job_id for each in watches])
        for watch in watches:
            if watch.job_id in seen:
                await watch.adopt(seen[watch.job_id])
            else:
                watch.end()  # The job was deleted, or this release cannot read it.

    async def _progress(self, job_ids: Sequence[str]) -> Mapping[str, JobProgress]:
        """Return the progress of the jobs without those that this release cannot read.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        try:
            return await load_progress_of_jobs(self._db, job_ids)
        except ValidationError:
            # A status of a newer release. Only the readers of that job are to be disconnected.
            found: dict[str, JobProgress] = {}
            for job_id in job_ids:
                with suppress(ValidationError):
                    found |= await load_progress_of_jobs(self._db, [job_id])
            return found
