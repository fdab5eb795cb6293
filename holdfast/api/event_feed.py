"""Poll the event logs of all followed jobs and share new entries among all readers.

One query looks at all followed jobs, and one reads the new entries of all that have some, so their
cost grows neither with the readers nor much with the jobs, and they can be asked often.
PostgreSQL's NOTIFY would take one lock of the whole server at each commit of a task, and its LISTEN
does not work behind a pooler of transactions.

No reader has a queue. A reader knows its position and takes the next entries when it is ready: from
the shared newest entries, or from PostgreSQL if it is further behind. So a slow reader costs no
memory, and a reader that reconnects misses nothing. Readers at the same position get the same
batch, whose entries are encoded once.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import ValidationError

from holdfast.api.entry_batch import EntryBatch
from holdfast.models.errors import StorageAway
from holdfast.models.views.job_views import EventView
from holdfast.storage.core.database import Database
from holdfast.storage.views.job_queries import events_after, events_of_jobs
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
_JOBS_OF_QUERY = 50
"""The most jobs whose new entries one query reads, so that its answer fits into memory."""


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
    _batches: dict[int, EntryBatch] = field(default_factory=dict)
    """Parts of the newest entries, by the number of the entry before each part."""
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def record_standing(self, seen: JobProgress) -> None:
        """Adopt a newer state, and wake the waiting readers."""
        if seen.last_event >= self.standing.last_event and seen != self.standing:
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

    def unread_after(self, seen: JobProgress) -> int | None:
        """Return the entry after which all readers lack new ones; None if they lack none."""
        newest = self.newest[-1].seq if self.newest else self.standing.last_event
        if seen.last_event <= newest:
            return None
        return max(newest, seen.last_event - _SHARED_ENTRIES)

    def share(self, entries: Sequence[EventView]) -> None:
        """Share consecutive entries with all readers, unless a gap parts them from newer ones."""
        if not entries:
            return
        first, last = entries[0].seq, entries[-1].seq
        if not self.newest or first > self.newest[-1].seq + 1:
            shared = tuple(entries)
        elif last >= self.newest[0].seq - 1:
            before = (each for each in self.newest if each.seq < first)
            behind = (each for each in self.newest if each.seq > last)
            shared = (*before, *entries, *behind)
        else:
            return
        self.newest = shared[-_SHARED_ENTRIES:]
        self._batches = {}

    async def batch_after(self, seq: int) -> EntryBatch:
        """Return the next entries after entry `seq`, at most one query's worth.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        if batch := self._shared_batch(seq):
            return batch
        if seq < self.standing.last_event - _SHARED_ENTRIES:
            return EntryBatch(await self._read(seq))
        # Readers that begin at the same time ask PostgreSQL once.
        async with self._reading:
            if batch := self._shared_batch(seq):
                return batch
            entries = await self._read(seq)
            self.share(entries)
            return self._shared_batch(seq) or EntryBatch(entries)

    def _shared_batch(self, seq: int) -> EntryBatch | None:
        if not self.newest or not self.newest[0].seq <= seq + 1 <= self.newest[-1].seq:
            return None
        if seq not in self._batches:
            self._batches[seq] = EntryBatch(self.newest[seq + 1 - self.newest[0].seq :])
        return self._batches[seq]

    async def _read(self, seq: int) -> tuple[EventView, ...]:
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
        """Yield what `batches` yields, one entry at a time."""
        # The reader is counted until its batches are closed.
        async with aclosing(self.batches(job_id, after, seen)) as batches:
            async for item in batches:
                if isinstance(item, JobProgress):
                    yield item
                else:
                    for entry in item.entries:
                        yield entry

    async def batches(
        self, job_id: str, after: int, seen: JobProgress
    ) -> AsyncGenerator[EntryBatch | JobProgress]:
        """Yield the job's entries after `after`, each once and in order; then the job's end.

        `seen` is the job's current state. While PostgreSQL does not answer, the reader waits. If
        the end is missing, the reader was disconnected and may continue from its last entry.
        """
        with self._watched(job_id, seen) as watch:
            while not watch.is_over:
                now = watch.standing
                if after < now.last_event:
                    batch = await self._behind(watch, after)
                    if batch.entries:
                        yield batch
                        after = batch.entries[-1].seq
                    else:
                        # PostgreSQL is away, or the job was removed a moment ago.
                        await asyncio.sleep(self._look_every_s)
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

    async def _behind(self, watch: FollowedJob, after: int) -> EntryBatch:
        try:
            return await watch.batch_after(after)
        except StorageAway:
            return EntryBatch(())

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
        watches = {each.job_id: each for each in self._watches.values()}
        seen = await self._progress([*watches])
        for job_id in watches.keys() - seen.keys():
            watches[job_id].end()  # The job was deleted, or this release cannot read it.
        unread = [
            (job_id, after)
            for job_id, progress in seen.items()
            if (after := watches[job_id].unread_after(progress)) is not None
        ]
        for start in range(0, len(unread), _JOBS_OF_QUERY):
            some = dict(unread[start : start + _JOBS_OF_QUERY])
            for job_id, entries in (await events_of_jobs(self._db, some)).items():
                watches[job_id].share(entries)
        for job_id, progress in seen.items():
            watches[job_id].record_standing(progress)

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
