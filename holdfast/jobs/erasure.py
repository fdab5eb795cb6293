"""Erase a job, or everything that an owner has, from PostgreSQL, Temporal and the home folder.

An erasure ends running jobs first. Each of its steps can be repeated, so an interrupted erasure is
continued by the same request, and its receipt has the steps before.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.client import Holdfast
from holdfast.corpus.uploads.upload_staging import UploadStaging
from holdfast.jobs.job_controller import JobController
from holdfast.models.access.audit_entries import AuditedAction
from holdfast.models.access.erasures import ErasureReceipt, ErasureSubject
from holdfast.models.errors import BadInput, NotFound, ServiceDown
from holdfast.models.jobs.job_record import Job
from holdfast.storage.access.audit_rows import append_audit_entry
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.jobs import erasure_rows, job_rows
from holdfast.storage.schedules.schedule_rows import schedule_ids_of_owner
from holdfast.temporal.history_deletion import delete_histories, wait_until_deleted
from holdfast.temporal.job_schedules import delete_temporal_schedule
from holdfast.temporal.temporal_connection import connect
from holdfast.temporal.workflow_handle import wait_until_closed

if TYPE_CHECKING:
    from temporalio.client import Client

_ENDS_WITHIN = timedelta(seconds=90)


async def erase_job(
    holdfast: Holdfast,
    job_id: str,
    *,
    by: str,
    with_follow_ups: bool = False,
    owner: str | None = None,
    only_ended: bool = False,
) -> ErasureReceipt:
    """Erase the job; with `with_follow_ups`, also the jobs that follow or fork it, which quote it.

    With `owner`, jobs of other owners stay; the receipt names them. With `only_ended`, no job is
    cancelled, and one that is reopened meanwhile stays.

    Raises:
        NotFound: there is no such job.
        BadInput: other jobs follow or fork it, and `with_follow_ups` is false; or a job has not
            ended, and `only_ended` is true.
        ServiceDown: a service does not answer, or the job does not end; erase again then.
    """
    job = await job_rows.load_job(holdfast.db, job_id)
    if only_ended and not job.status.is_final:
        raise _not_ended_error(job)
    dependent = await erasure_rows.follow_ups_of(holdfast.db, [job_id])
    owners = {each: await job_rows.find_job_owner(holdfast.db, each) for each in dependent}
    follow_ups = [each for each in dependent if owner in (None, owners[each])]
    if follow_ups and not with_follow_ups:
        raise BadInput(
            f"{', '.join(follow_ups[:5])} {'follow' if len(follow_ups) > 1 else 'follows'} job "
            f"{job_id}, or begins from it as a fork, and quotes its question and answer; `holdfast "
            f"erase {job_id} --with-follow-ups` erases them too"
        )
    erasure = await _begin(holdfast, ErasureSubject.JOB, job_id, by, only_ended=only_ended)
    for each in (*reversed(follow_ups), job_id):
        await erasure.erase(each)
    left = [each for each in dependent if each not in follow_ups]
    return await erasure_rows.end_erasure(
        holdfast.db, erasure.id, upload_folders=0, dependent_jobs=left
    )


async def erase_owner(holdfast: Holdfast, owner: str, *, by: str) -> ErasureReceipt:
    """Erase the owner's keys, jobs, schedules, collections, uploads and webhooks.

    Raises:
        BadInput: the owner is empty.
        NotFound: the owner has nothing here, and no erasure of the owner was interrupted.
        ServiceDown: a service does not answer, or a job does not end; erase again then.
    """
    if not owner.strip():
        raise BadInput(
            "name the owner that is to be erased; `holdfast keys list` shows owners", field="owner"
        )
    db = holdfast.db
    if not await erasure_rows.owns_rows(db, owner) and not await erasure_rows.has_begun(
        db, ErasureSubject.OWNER, owner
    ):
        raise NotFound(
            f"no owner {owner!r} has anything here, so nothing was erased; `holdfast erasures` "
            "shows what was erased, and `holdfast keys list` the owners of keys",
            field="owner",
        )
    erasure = await _begin(holdfast, ErasureSubject.OWNER, owner, by)
    uploads = await erasure_rows.upload_ids_of_owner(db, owner)
    schedules = await schedule_ids_of_owner(db, owner)
    # The keys go first: whoever has one could submit another job.
    await erasure_rows.erase_owned_rows(db, erasure.id, owner)
    for schedule_id in schedules:
        await delete_temporal_schedule(erasure.temporal, schedule_id)
    folders = await asyncio.to_thread(_remove_folders, holdfast, uploads)
    erased: list[str] = []
    while mine := await erasure_rows.job_ids_of_owner(db, owner):
        for job_id in mine:
            await erasure.erase(job_id)
        erased += mine
    for collection in await erasure_rows.collections_of_owner(db, owner):
        async with CorpusStore(db).writing(collection) as writer:
            gone = await writer.keep_only(())
        await erasure_rows.note_erased(db, erasure.id, "documents", gone)
    dependent = await erasure_rows.follow_ups_of(db, erased)
    return await erasure_rows.end_erasure(
        db, erasure.id, upload_folders=folders, dependent_jobs=dependent
    )


@dataclass(frozen=True)
class _Erasure:
    """An erasure that is under way."""

    holdfast: Holdfast
    temporal: "Client"
    id: str
    by: str
    only_ended: bool = False

    async def erase(self, job_id: str) -> None:
        job = await job_rows.load_job(self.holdfast.db, job_id)
        if not job.status.is_final and self.only_ended:
            raise _not_ended_error(job)
        await self._end(job)
        await wait_until_closed(self.temporal, job_id)
        runs = await delete_histories(self.temporal, job_id)
        await wait_until_deleted(self.temporal, job_id)
        epoch = job.epoch if self.only_ended else None
        await erasure_rows.erase_stored_job(self.holdfast.db, self.id, job_id, runs, epoch=epoch)

    async def _end(self, job: Job) -> None:
        if job.status.is_final:
            return
        job_id = job.id
        with suppress(BadInput):  # it has just ended
            await JobController(self.holdfast, self.by).cancel(job_id)
        if not (await self.holdfast.wait(job_id, _ENDS_WITHIN)).status.is_final:
            raise ServiceDown(
                f"job {job_id} does not end; start a worker with `holdfast up`, then erase again"
            )


async def _begin(
    holdfast: Holdfast, kind: ErasureSubject, subject: str, by: str, *, only_ended: bool = False
) -> _Erasure:
    temporal = holdfast.temporal or await connect(holdfast.settings, holdfast.endpoints)
    audited = AuditedAction(actor=by, action=f"erase_{kind.value}", resource=subject)
    # Nobody asks again when retention tries each hour what it has begun.
    if not (only_ended and await erasure_rows.has_begun(holdfast.db, kind, subject)):
        await append_audit_entry(holdfast.db, audited)
    made = await erasure_rows.begin_erasure(holdfast.db, kind, subject, by)
    return _Erasure(holdfast, temporal, made, by, only_ended)


def _not_ended_error(job: Job) -> BadInput:
    return BadInput(f"job {job.id} is {job.status.value}; only ended jobs are erased here")


def _remove_folders(holdfast: Holdfast, uploads: list[str]) -> int:
    staging = UploadStaging(holdfast.settings.home)
    there = [each for each in uploads if staging.folder_of(each).exists()]
    for each in there:
        staging.remove(each)
    return len(there)
