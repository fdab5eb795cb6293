"""Store the job of a bundle, so that it is looked at and used as any other ended job."""

import asyncio
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from holdfast.bundles.bundle_check import checked_content
from holdfast.bundles.bundle_reader import Bundle, open_bundle
from holdfast.bundles.bundle_rows import bundle_rows
from holdfast.client import Holdfast
from holdfast.models.bundles.bundle_manifest import JobImport
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput, NotFound
from holdfast.models.frozen_model import Frozen
from holdfast.storage.core.schema_migration import newest_schema_version
from holdfast.storage.evidence import verification_rows
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.jobs import job_rows
from holdfast.storage.jobs.exported_tables import EXPORTED_TABLES
from holdfast.storage.jobs.job_import import load_job_import, open_job_import
from holdfast.storage.plans.loop_result_rows import load_loop_results
from holdfast.storage.views import job_queries

_JOB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class ImportedJob(Frozen):
    """A job that came in a bundle."""

    job_id: str
    question: str
    origin: JobImport
    is_new: bool
    """False if the same bundle was imported before."""


async def import_bundle(
    holdfast: Holdfast,
    file: IO[bytes] | Path,
    *,
    owner: str = "",
    new_id: str = "",
    signed_by: str = "",
    sees: Callable[[str], bool] | None = None,
) -> ImportedJob:
    """Store the job of the bundle, under its own id or under `new_id`.

    `sees` says which collections the owner sees; None: the owner sees all jobs and collections.

    Raises:
        BadInput: the bundle is refused, or the id is taken by another job.
        StorageAway: PostgreSQL does not answer; nothing is stored.
    """
    with ExitStack() as stack:
        # Reading takes long and happens in a thread, so that a server answers others meanwhile.
        with error_field("bundle"):
            bundle = await asyncio.to_thread(
                stack.enter_context, open_bundle(file, signed_by=signed_by)
            )
            check = await asyncio.to_thread(checked_content, bundle)
            _check_schema(bundle)
        job_id = _checked_id(new_id or check.job_id)
        origin = JobImport(
            bundle_sha256=bundle.sha256,
            job_id=check.job_id,
            release=check.release,
            exported_at=check.exported_at,
            redacted=check.redacted,
            signed_by=bundle.signed_by,
        )
        is_new = await _is_new(holdfast, job_id, origin, None if sees is None else owner)
        if is_new:
            await _store(holdfast, bundle, job_id, owner, origin, sees)
    return ImportedJob(job_id=job_id, question=check.question, origin=origin, is_new=is_new)


async def _is_new(
    holdfast: Holdfast, job_id: str, origin: JobImport, visible_owner: str | None
) -> bool:
    try:
        job = await job_rows.load_job(holdfast.db, job_id)
    except NotFound:
        return True
    here = await load_job_import(holdfast.db, job_id)
    is_seen = visible_owner in (None, job.request.owner)
    if is_seen and here is not None and here.bundle_sha256 == origin.bundle_sha256:
        return False
    raise BadInput(
        f"there is a job {job_id} here already, and it does not come from this bundle"
        f"{'' if is_seen else ' or is of another owner'}; "
        "`holdfast import FILE --as ID` imports under another id",
        field="new_id",
    )


async def _store(
    holdfast: Holdfast,
    bundle: Bundle,
    job_id: str,
    owner: str,
    origin: JobImport,
    sees: Callable[[str], bool] | None,
) -> None:
    async with open_job_import(holdfast.db, job_id, owner, origin, sees) as importing:
        for table_name in EXPORTED_TABLES:
            await importing.add(table_name, bundle_rows(bundle, table_name))
        await _check_readable(replace(holdfast, db=importing.uncommitted), job_id)


async def _check_readable(holdfast: Holdfast, job_id: str) -> None:
    """Read the job as its readers will, before it is stored for good.

    Raises:
        BadInput: something of the job has not the form that this release reads.
    """
    try:
        await holdfast.show(job_id)
        await load_report(holdfast.db, job_id)
        await job_queries.job_calls(holdfast.db, job_id)
        await verification_rows.verdicts_of(holdfast.db, job_id)
        await load_loop_results(holdfast.db, job_id)
    except (ValidationError, ValueError, TypeError, KeyError, AttributeError) as error:
        reason = str(error).splitlines()[0][:300]
        raise BadInput(f"this release cannot read the job in the bundle: {reason}") from error


def _check_schema(bundle: Bundle) -> None:
    theirs, ours = bundle.manifest.schema_revision, newest_schema_version()
    if theirs > ours:
        raise BadInput(
            f"the bundle was written by a newer release ({bundle.manifest.release}, schema "
            f"{theirs}; this one has schema {ours}); update Holdfast to import it"
        )


def _checked_id(job_id: str) -> str:
    if not _JOB_ID.fullmatch(job_id):
        raise BadInput(
            f"{job_id[:100]!r} cannot be the id of a job: letters, digits and . _ - only; "
            "`holdfast import FILE --as ID` imports under another id",
            field="new_id",
        )
    return job_id
