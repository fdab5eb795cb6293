"""Export traces from the ledger: each span once it is settled, whichever worker made the call.

Nothing is kept in a worker's memory. The worker that has the lease reads the ledger, sends the
spans that the collector does not have, and records that it has them. A worker that dies between
sending and recording leaves spans that are sent again: with the same ids and the same content, so
a collector that stores spans by their id stores each once.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from holdfast.models.errors import HoldfastError, NotFound
from holdfast.models.frozen_model import Frozen
from holdfast.observability.span_sender import SpanSender, is_collector_named
from holdfast.planning.traces.job_trace import settled_spans
from holdfast.planning.traces.span_ids import trace_id
from holdfast.storage.core.database import Database
from holdfast.storage.ledger.trace_export_rows import (
    ended_jobs_to_send,
    lease_export,
    note_exported,
    note_sent_spans,
    running_jobs,
    spans_sent,
)
from holdfast.storage.ledger.traced_jobs import load_traced_job

log = structlog.get_logger(__name__)

INTERVAL_S = 5.0
LEASE = timedelta(seconds=60)
_MOST_ENDED_JOBS = 100
"""Per look; the next look takes the next ones."""


class SentTrace(Frozen):
    """A trace that was sent whole."""

    job_id: str
    trace_id: str
    spans: int


async def send_trace(db: Database, job_id: str) -> SentTrace:
    """Send all settled spans of one job, also those that were sent before.

    Raises:
        NotFound: there is no such job.
        BadInput: no variable names a collector.
        PartMissing: the part `observability` is not installed.
        CollectorAway: the collector did not take the spans.
    """
    spans = settled_spans(await load_traced_job(db, job_id))
    with SpanSender() as sender:
        await sender.send(spans)
    return SentTrace(job_id=job_id, trace_id=trace_id(job_id), spans=len(spans))


async def export_traces(db: Database, holder: str) -> None:
    """Export until cancelled if a variable names a collector; `holder` is this worker's name."""
    if not is_collector_named():
        return
    try:
        sender = SpanSender()
    except HoldfastError as error:
        log.warning("traces.not_exported", error=str(error))
        return
    with sender:
        exporter = TraceExporter(db, sender, holder)
        while True:
            try:
                await exporter.export()
            except HoldfastError as error:
                log.warning("traces.delayed", kind=type(error).__name__, error=str(error))
            await asyncio.sleep(INTERVAL_S)


@dataclass
class TraceExporter:
    """Exports the traces of one database's jobs, as long as no other worker does."""

    db: Database
    sender: SpanSender
    holder: str
    lease: timedelta = LEASE

    async def export(self) -> None:
        """Send what is settled and not sent.

        Raises:
            CollectorAway: the collector did not take spans; the next look sends them.
            StorageAway: PostgreSQL does not answer.
        """
        leased = await self._lease()
        if leased is None:
            return
        now, since = leased
        ended = await ended_jobs_to_send(self.db, since, most=_MOST_ENDED_JOBS)
        for job_id in [*ended, *await running_jobs(self.db)]:
            if await self._lease() is None:  # this worker stood still for longer than the lease
                return
            await self._export_job(job_id)
        if len(ended) < _MOST_ENDED_JOBS:
            await note_exported(self.db, self.holder, now)

    async def _lease(self) -> tuple[datetime, datetime] | None:
        return await lease_export(self.db, self.holder, duration=self.lease)

    async def _export_job(self, job_id: str) -> None:
        try:
            job = await load_traced_job(self.db, job_id)
        except NotFound:  # removed since
            return
        has = await spans_sent(self.db, job_id)
        missing = [span for span in settled_spans(job) if span.span_id not in has]
        if missing:
            await self.sender.send(missing)
        ended = job.attempt if job.finished_at else None
        if missing or ended is not None:
            ids = {span.span_id for span in missing}
            await note_sent_spans(self.db, job_id, ids, ended_attempt=ended)
