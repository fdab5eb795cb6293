"""Record how far a model call has come while it is under way, so that `status` can show it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.errors import StorageAway
from holdfast.storage.ledger.call_ledger import CallLedger, LedgerEntry

RECORD_EVERY_S = 3.0
"""Seconds between two records; a shorter call leaves none, and costs nothing."""


@asynccontextmanager
async def recorded_progress(ledger: CallLedger, opened: LedgerEntry) -> AsyncIterator[CallProgress]:
    """Record the progress that the endpoint notes, until the call is over."""
    progress = CallProgress(
        response_id=opened.response_id, responses=_LedgerResponses(ledger, opened.row_id)
    )
    recording = asyncio.create_task(_record(ledger, opened.row_id, progress))
    try:
        yield progress
    finally:
        recording.cancel()
        await asyncio.wait([recording])


@dataclass(frozen=True)
class _LedgerResponses:
    """The record of a call's responses in the background: a `ResponseRecord`."""

    ledger: CallLedger
    row_id: int

    async def record(self, response_id: str | None, *, is_sent_again: bool) -> None:
        await self.ledger.record_response(self.row_id, response_id, is_sent_again=is_sent_again)


async def _record(ledger: CallLedger, row_id: int, progress: CallProgress) -> None:
    recorded = 0
    while True:
        await asyncio.sleep(RECORD_EVERY_S)
        if progress.received_chars != recorded:
            # An outage of PostgreSQL ends no call; the next record says more.
            with suppress(StorageAway):
                await ledger.note_received(row_id, progress.received_chars)
                recorded = progress.received_chars
