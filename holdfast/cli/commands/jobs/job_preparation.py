"""Prepare a job: start the services, read the documents, then submit the job."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from holdfast.cli.options.run_options import CheckedRun
from holdfast.cli.render.terminal_output import print_progress
from holdfast.cli.service_start import start_installation
from holdfast.client import Holdfast, open_client
from holdfast.configuration.json_logs import configure_quiet_logs
from holdfast.corpus.corpus_update import add_documents, ingestion_lines
from holdfast.corpus.folder_ingestion import IngestOptions
from holdfast.jobs.request_completion import completed_request
from holdfast.jobs.server_checks import check_server_names
from holdfast.models.jobs.job_record import JobRequest
from holdfast.settings import Settings

EXIT_INTERRUPTED = 130

Submission = Callable[[Holdfast, JobRequest], Awaitable[int]]
"""Submits the request and gives the exit code; it handles interrupts itself."""


def prepare_and_run(checked: CheckedRun, submission: Submission) -> int:
    """Prepare the job and submit it; gives the exit code."""
    return asyncio.run(_prepare_and_run(checked, submission))


async def _prepare_and_run(checked: CheckedRun, submission: Submission) -> int:
    settings, is_prepared = checked.settings, False
    if checked.submission.note:
        print_progress(f"note: {checked.submission.note}")
    configure_quiet_logs()
    try:
        await check_server_names(checked.submission.request.servers, settings)
        endpoints = await start_installation(settings)
        async with open_client(settings, endpoints) as holdfast:
            request = await _with_reading(holdfast, checked)
            is_prepared = True
            return await submission(holdfast, request)
    except (KeyboardInterrupt, asyncio.CancelledError):
        if is_prepared:
            raise
        print_progress("\ninterrupted: no job was submitted; the same command starts again")
        return EXIT_INTERRUPTED


async def _with_reading(holdfast: Holdfast, checked: CheckedRun) -> JobRequest:
    """The request with what it reads: documents, a collection, or what the earlier job read."""
    submission, settings = checked.submission, checked.settings
    if checked.docs is not None:
        wanted = submission.request.collection or None
        collection = await _ingest(holdfast, checked.docs, wanted, settings)
        submission = submission.with_collection(collection)
    request = await completed_request(holdfast, submission)
    if request.followed_job:
        print_progress(f"follows job {request.followed_job}: what its report cites is known")
    elif not (request.collection or settings.config_file) and settings.uses_embedded_temporal:
        print_progress("note: no documents were given, so there is nothing to search; use --docs")
    return request


async def _ingest(
    holdfast: Holdfast, docs: Path, collection: str | None, settings: Settings
) -> str:
    """Read the documents; gives the name of their collection."""
    result, embedded = await add_documents(settings, holdfast.db, docs, collection, IngestOptions())
    for line in ingestion_lines(result, embedded):
        print_progress(line)
    return result.collection
