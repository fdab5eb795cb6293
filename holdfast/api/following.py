"""Following the logs of jobs: one look a second at each, however many follow it.

Nothing is queued for a reader. Each knows how far it has come and takes what is next when it can
take it: from the newest entries, which all share, or from PostgreSQL where it is further behind.
So a slow reader costs no memory, and one that comes back is as good as one that stayed.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

from models.errors import StorageAway
from models.views import EventView
from storage.database import Database
from storage.progress import Standing, standing
from storage.views import events_after

LOOK_EVERY = timedelta(seconds=1)
_SHARED = 200
"""Entries: the newest, kept for all who follow a job, and as many as are read at once."""


@dataclass
class Watch:
    """What was last seen of a job that somebody follows."""

    db: Database
    job_id: str
    standing: Standing
    newest: tuple[EventView, ...] = ()
    """The last entries seen, without a gap."""
    readers: int = 0
    is_over: bool = False
    """Nobody looks any more, so a reader would wait for ever."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def heed(self, seen: Standing, newest: tuple[EventView, ...] = ()) -> None:
        """Take a newer look over, and wake who waits for one."""
        if seen.last_event < self.standing.last_event:
            return
        self.newest = newest or self.newest
        if seen != self.standing:
            self.standing = seen
            self._wake()

    def end(self) -> None:
        """Send every reader away."""
        self.is_over = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def change(self) -> None:
        """Wait until something is new."""
        await self._changed.wait()

    async def look(self) -> None:
        """Look at the job once; what was added since the last look is read once for all.

        Raises:
            NotFound: the job is gone.
            StorageAway: PostgreSQL does not answer.
        """
        seen = await standing(self.db, self.job_id)
        known = self.newest[-1].seq if self.newest else self.standing.last_event
        if seen.last_event <= known:
            self.heed(seen)
            return
        start = max(known, seen.last_event - _SHARED)
        added = await events_after(self.db, self.job_id, start, _SHARED)
        before = self.newest if start == known else ()
        self.heed(seen, (*before, *added)[-_SHARED:])

    async def behind(self, seq: int) -> tuple[EventView, ...]:
        """The next entries behind entry `seq`, at most so many as are read at once."""
        if self.newest and self.newest[0].seq <= seq + 1 <= self.newest[-1].seq:
            return self.newest[seq + 1 - self.newest[0].seq :]
        return tuple(await events_after(self.db, self.job_id, seq, _SHARED))


class Following:
    """All jobs that are followed from this process."""

    def __init__(self, db: Database, *, look_every: timedelta = LOOK_EVERY) -> None:
        self._db = db
        self._look_every_s = look_every.total_seconds()
        self._watches: dict[str, Watch] = {}
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._is_closed = False

    @property
    def readers(self) -> dict[str, int]:
        """How many follow which job."""
        return {job_id: watch.readers for job_id, watch in self._watches.items()}

    def close(self) -> None:
        """Send every reader away, because the process ends."""
        self._is_closed = True
        for watch in self._watches.values():
            watch.end()

    async def entries(
        self, job_id: str, after: int, seen: Standing
    ) -> AsyncIterator[EventView | Standing]:
        """The job's log behind entry `after`, each entry once and in order; then how it ended.

        `seen` is where the job stood just now. If PostgreSQL goes away, the reader waits. Without
        an end at its end the reader was sent away, and may come back to where it was.
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

    async def _behind(self, watch: Watch, after: int) -> tuple[EventView, ...]:
        try:
            return await watch.behind(after)
        except StorageAway:
            await asyncio.sleep(self._look_every_s)
            return ()

    @contextmanager
    def _watched(self, job_id: str, seen: Standing) -> Iterator[Watch]:
        watch = self._watches.get(job_id)
        if watch is None or watch.is_over:
            watch = Watch(self._db, job_id, seen, is_over=self._is_closed)
            self._watches[job_id] = watch
            self._looking[job_id] = asyncio.create_task(self._look(watch))
        # It may have been reopened a moment ago, by the one who now comes to follow it.
        watch.heed(seen)
        watch.readers += 1
        try:
            yield watch
        finally:
            watch.readers -= 1
            if watch.readers == 0 and self._watches.get(job_id) is watch:
                del self._watches[job_id]
                self._looking.pop(job_id).cancel()

    async def _look(self, watch: Watch) -> None:
        try:
            while not watch.is_over:
                await asyncio.sleep(self._look_every_s)
                with suppress(StorageAway):
                    await watch.look()
        finally:
            # Whatever ended the looking, such as a job that is gone, must leave no reader behind.
            watch.end()
