"""Poll the event log of each followed job and share new entries among all readers.

No reader has a queue. A reader knows its position and takes the next entries when it is ready: from
the shared newest entries, or from PostgreSQL if it is further behind. So a slow reader costs no
memory, and a reader that reconnects misses nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from holdfast.models.errors import StorageAway
from holdfast.models.views.job_views import EventView
from holdfast.storage.core.database import Database
from holdfast.storage.views.job_queries import events_after
from holdfast.storage.views.status_and_last_event import JobProgress, load_job_progress

POLL_INTERVAL = timedelta(seconds=1)
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

    async def look(self) -> None:
        """Poll the job once, and read its new entries once for all readers.

        Raises:
            NotFound: the job no longer exists.
            StorageAway: PostgreSQL does not answer.
        """
        seen = await load_job_progress(self.db, self.job_id)
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
        self._looking: dict[str, asyncio.Task[None]] = {}
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
            self._looking[job_id] = asyncio.create_task(self._look(watch))
        # The caller may have reopened the job a moment ago, before following it.
        watch.record_standing(seen)
        watch.readers += 1
        try:
            yield watch
        finally:
            watch.readers -= 1
            if watch.readers == 0 and self._watches.get(job_id) is watch:
                del self._watches[job_id]
                self._looking.pop(job_id).cancel()

    async def _look(self, watch: FollowedJob) -> None:
        try:
            while not watch.is_over:
                await asyncio.sleep(self._look_every_s)
                with suppress(StorageAway):
                    await watch.look()
        finally:
            # Whatever ended the polling, such as a deleted job, no reader may wait for ever.
            watch.end()
