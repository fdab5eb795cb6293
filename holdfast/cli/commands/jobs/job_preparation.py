"""Prepare a job: start the services, read the documents, then submit the job."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from holdfast.cli.options.corpus_options import check_collection
from holdfast.cli.options.run_options import CheckedRun
from holdfast.cli.options.server_options import check_server_names
from holdfast.cli.render.terminal_output import print_progress
from holdfast.cli.service_start import start_installation
from holdfast.client import Holdfast, open_client
from holdfast.corpus.corpus_update import add_documents, ingestion_lines
from holdfast.corpus.folder_ingestion import IngestOptions
from holdfast.jobs.follow_up_request import follow_up_request
from holdfast.models.jobs.job_record import JobRequest
from holdfast.settings import Settings
from holdfast.storage.corpus.corpus_store import CorpusStore

EXIT_INTERRUPTED = 130

Submission = Callable[[Holdfast, JobRequest], Awaitable[int]]
"""Submits the request and gives the exit code; it handles interrupts itself."""


def prepare_and_run(checked: CheckedRun, submission: Submission) -> int:
    """Prepare the job and submit it; gives the exit code."""
    return asyncio.run(_prepare_and_run(checked, submission))


async def _prepare_and_run(checked: CheckedRun, submission: Submission) -> int:
    settings, request, is_prepared = checked.settings, checked.request, False
    if checked.note:
        print_progress(f"note: {checked.note}")
    try:
        await check_server_names(request.servers, settings)
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
    """The request with what it reads: documents, or what the job before it read."""
    if not checked.follows:
        return await _with_documents(holdfast, checked)
    request = await follow_up_request(holdfast, checked.follows, checked.request)
    if request.follow_up:
        print_progress(f"follows job {request.follow_up.job}: what its report cites is known")
    return request


async def _with_documents(holdfast: Holdfast, checked: CheckedRun) -> JobRequest:
    """The request with its collection, once the documents have been read into it."""
    request, settings = checked.request, checked.settings
    if checked.docs is not None:
        collection = await _ingest(holdfast, checked.docs, request.collection or None, settings)
        return request.model_copy(update={"collection": collection})
    if request.collection:
        check_collection(request.collection, await CorpusStore(holdfast.db).collections())
    elif settings.config_file is None and settings.uses_embedded_temporal:
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
