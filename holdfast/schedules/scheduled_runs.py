"""Begin a run of a schedule: submit its question again, or update its report.

A run that cannot begin ends with a note, and the schedule goes on: a collection may come back, and
an outage ends. Only a revoked key pauses the schedule, and the last of its runs ends it.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import structlog

from holdfast.client import Holdfast
from holdfast.corpus.collection_names import check_collection
from holdfast.corpus.folder_rereading import FolderReading, read_folders_again
from holdfast.models.access.access_scopes import Scope
from holdfast.models.access.api_keys import ApiKey
from holdfast.models.errors import BadConfiguration, BadInput, NotFound
from holdfast.models.schedules.schedule import Schedule, ScheduleStatus
from holdfast.models.schedules.schedule_orders import RunScheduleOrder, ScheduleReceipt
from holdfast.records.job_update import update_job
from holdfast.settings import Endpoints, Settings
from holdfast.storage.access.api_key_rows import load_keys
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.schedules import schedule_rows, schedule_run_rows
from holdfast.temporal.job_schedules import delete_temporal_schedule, pause_temporal_schedule

if TYPE_CHECKING:
    from temporalio.client import Client

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ScheduledRuns:
    """Begins the runs of one installation's schedules."""

    settings: Settings
    db: Database

    async def begin(self, temporal: "Client", order: RunScheduleOrder) -> ScheduleReceipt:
        """Submit the job of the run; the same run gives the same job.

        Raises:
            Passing: a service or a source does not answer; trying again may help.
        """
        try:
            schedule = await schedule_rows.find_schedule(self.db, order.schedule_id, None)
        except NotFound:
            # It was erased, or PostgreSQL is another one: nothing of it may run.
            await delete_temporal_schedule(temporal, order.schedule_id)
            return ScheduleReceipt()
        begun = await schedule_run_rows.find_run(self.db, schedule.id, order.run)
        if begun is not None:
            # The attempt that stored the run may have been interrupted right after.
            await self._end_after_last_run(temporal, schedule)
            return ScheduleReceipt(job_id=begun.job_id)
        key = await self._newest_key(schedule.key_id)
        if not await self._may_run(temporal, schedule, key):
            return ScheduleReceipt()
        job_id, key_id = None, schedule.key_id if key is None else key.id
        try:
            # The folders belong to the machine: for others, the API reads none again either.
            owner = None if _is_of_operator(schedule, key) else schedule.owner
            holdfast = _connected(self, temporal).on_behalf_of(owner)
            job_id = await self._submit(holdfast, schedule, order.run, key_id)
        except schedule_run_rows.NoRunLeft:
            log.info("schedule.no_run_left", schedule_id=schedule.id)
        except (BadInput, NotFound, BadConfiguration) as error:
            log.warning("schedule.run_refused", schedule_id=schedule.id, error=str(error))
            await self._note(schedule, order.run, str(error))
        await self._end_after_last_run(temporal, schedule)
        return ScheduleReceipt(job_id=job_id)

    async def _may_run(self, temporal: "Client", schedule: Schedule, key: ApiKey | None) -> bool:
        """True if the schedule is active; one whose key no longer counts is paused with a note."""
        if schedule.status is ScheduleStatus.ENDED:
            await delete_temporal_schedule(temporal, schedule.id)
        if schedule.status is not ScheduleStatus.ACTIVE:
            return False
        if key is None or key.state_at(datetime.now(UTC)) == "active":
            return True
        note = f"the key {key.name!r} that made the schedule was revoked or has expired"
        await schedule_rows.set_schedule_status(
            self.db, schedule.id, ScheduleStatus.PAUSED, note=note
        )
        await pause_temporal_schedule(temporal, schedule.id, is_paused=True)
        return False

    async def _newest_key(self, key_id: str) -> ApiKey | None:
        """The key that was made from this one by rotation, if there is one; None: not our key.

        People on this machine have no key, and callers of a sign-in provider have none of ours.
        """
        keys = {each.id: each for each in await load_keys(self.db)}
        made_from = {each.replaces: each for each in keys.values() if each.replaces}
        key = keys.get(key_id)
        while key is not None and key.id in made_from:
            key = made_from[key.id]
        return key

    async def _submit(
        self, holdfast: Holdfast, schedule: Schedule, run: str, key_id: str
    ) -> str | None:
        key = f"{schedule.id}/{run}"

        async def store_run(write: JobTransaction) -> None:
            await schedule_run_rows.store_run_of_job(write, schedule.id, run)

        request = schedule.work.request
        if request is None:
            newest = await schedule_run_rows.newest_report_of_schedule(self.db, schedule.id)
            updated = await update_job(
                holdfast,
                newest or schedule.work.updated_job,
                owner=schedule.owner,
                by=schedule.owner,
                key=key,
                key_id=key_id,
                searches_again=schedule.work.searches_again,
                prepare=store_run,
            )
            if updated.job_id is None:
                unread = self._notes_without_paths(schedule, updated.folders)
                await self._note(schedule, run, "; ".join([updated.note, *unread]))
            return updated.job_id
        if request.collection:
            read = await read_folders_again(self.settings, holdfast.db, request.collection)
            self._notes_without_paths(schedule, read)
            collections = await CorpusStore(self.db).collections()
            check_collection(request.collection, collections)
        return await holdfast.submit(request, key=key, key_id=key_id, prepare=store_run)

    def _notes_without_paths(
        self, schedule: Schedule, folders: Iterable[FolderReading]
    ) -> list[str]:
        """Log which folders were not read, and return it as the schedule's owner may know it.

        The owner of a key sees the runs also of the owner's schedules that an operator made.
        """
        notes = []
        for each in folders:
            if each.is_read:
                continue
            log.warning("schedule.folder_not_read", schedule_id=schedule.id, note=each.note)
            logged = "a folder of the documents was not read again: the worker's log says why"
            notes.append(logged if each.folder else each.note)
        return notes

    async def _note(self, schedule: Schedule, run: str, note: str) -> None:
        with suppress(schedule_run_rows.NoRunLeft):
            await schedule_run_rows.store_run_without_job(self.db, schedule.id, run, note[:500])

    async def _end_after_last_run(self, temporal: "Client", schedule: Schedule) -> None:
        most = schedule.terms.runs
        if most is None or await schedule_run_rows.count_runs(self.db, schedule.id) < most:
            return
        note = f"the schedule had its {most} runs"
        await schedule_rows.set_schedule_status(
            self.db, schedule.id, ScheduleStatus.ENDED, note=note
        )
        await delete_temporal_schedule(temporal, schedule.id)


def _is_of_operator(schedule: Schedule, key: ApiKey | None) -> bool:
    """True if someone on this machine, or a key for administration, made the schedule.

    What a caller of a sign-in provider may do is not known here.
    """
    return not schedule.key_id or (key is not None and Scope.ADMIN in key.scopes)


def _connected(runs: ScheduledRuns, temporal: "Client") -> Holdfast:
    endpoints = Endpoints(
        database_url="",
        temporal_address=temporal.service_client.config.target_host,
        temporal_namespace=temporal.namespace,
        temporal_ui=None,
        embedded_database=False,
        embedded_temporal=False,
    )
    return Holdfast(runs.settings, endpoints, runs.db, temporal=temporal)
