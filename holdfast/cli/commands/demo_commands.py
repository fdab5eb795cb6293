"""Implement `holdfast demo`: run a question over the packaged documents; `--crash` kills.

The crash is real: SIGKILL kills the worker's process while a task of the job is running and the
call ledger has an answer for it. To hit that moment the command stops the process, asks PostgreSQL,
and then kills the process or lets it continue.
"""

import asyncio
import os
import signal
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path

from holdfast.cli.commands.jobs.job_preparation import EXIT_INTERRUPTED, prepare_and_run
from holdfast.cli.commands.jobs.job_watch import watch_job
from holdfast.cli.options.run_options import RunOptions, check_run
from holdfast.cli.render.recovery_lines import recovery_lines
from holdfast.cli.render.terminal_output import print_progress
from holdfast.client import Holdfast
from holdfast.models.errors import BadInput, ServiceDown
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.services.launch.worker_process import current_worker
from holdfast.services.service_state import RunningProcess
from holdfast.storage.jobs import job_rows
from holdfast.storage.views.job_queries import has_answers_of_running_tasks
from holdfast.web.page_address import begin_page, page_address

_POLL_INTERVAL_S = 0.004


def demo_command(*, crash: bool, json_output: bool) -> int:
    """Run the first question about the packaged documents; gives the exit code."""
    folder = files("holdfast").joinpath("demo")
    questions = tomllib.loads(folder.joinpath("questions.toml").read_text("utf-8"))
    question = questions["question"][0]["question"]

    async def submit(holdfast: Holdfast, request: JobRequest) -> int:
        if crash and current_worker(holdfast.settings.home) is None:
            raise BadInput("--crash kills the worker of `holdfast up`, and no worker runs here")
        job_id = await holdfast.submit(request)
        # The server starts while the job runs, and nobody waits for it: its seconds would be
        # those in which the worker is to be killed.
        page = asyncio.create_task(asyncio.to_thread(begin_page, holdfast.settings))
        watch = _watch_and_kill if crash else watch_job
        try:
            code = await watch(holdfast, job_id, json_output=json_output)
        finally:
            await page
        if code != EXIT_INTERRUPTED:
            await _print_page_address(holdfast, job_id)
        return code

    with as_file(folder.joinpath("collection")) as collection:
        print_progress(f"question: {question}")
        print_progress(f"documents: {collection}")
        options = RunOptions(
            question, docs=Path(collection), preset="kpi-chain", model=EXTRACTIVE_MODEL
        )
        return prepare_and_run(check_run(options), submit)


async def _print_page_address(holdfast: Holdfast, job_id: str) -> None:
    try:
        address = await page_address(holdfast.settings, f"/jobs/{job_id}")
    except ServiceDown as error:
        print_progress(f"warning: {error}")
    else:
        print_progress(f"see it in your browser: {address}")


async def _watch_and_kill(holdfast: Holdfast, job_id: str, *, json_output: bool) -> int:
    worker = partial(current_worker, holdfast.settings.home)
    killing = asyncio.create_task(kill_worker_mid_run(holdfast, job_id, worker))
    try:
        code = await watch_job(holdfast, job_id, json_output=json_output)
    finally:
        # An interrupt must not wait for the killer, and the job may end before the killer looks.
        killing.cancel()
        await asyncio.wait([killing])
    if code == EXIT_INTERRUPTED:
        return code
    if killing.cancelled() or not killing.result():
        print_progress("the job was over before its worker could be killed in mid-task; try again")
        return code
    view = await holdfast.show(job_id)
    for line in (line for recovery in view.recoveries for line in recovery_lines(recovery)):
        print_progress(line)
    return code


async def kill_worker_mid_run(
    holdfast: Holdfast, job_id: str, current: Callable[[], RunningProcess | None]
) -> bool:
    """Kill the worker while a running task has recorded answers; False if the job ended first."""
    while not (await job_rows.load_job(holdfast.db, job_id)).status.is_final:
        # Looked up in each round: the supervisor may have started another worker.
        worker = current()
        if worker and await _kill_if_busy(holdfast, job_id, worker.pid):
            print_progress(f"  killed the worker (pid {worker.pid}) with SIGKILL")
            return True
        await asyncio.sleep(_POLL_INTERVAL_S)
    return False


async def _kill_if_busy(holdfast: Holdfast, job_id: str, pid: int) -> bool:
    with suppress(ProcessLookupError), _process_stopped(pid):
        if await has_answers_of_running_tasks(holdfast.db, job_id):
            os.kill(pid, signal.SIGKILL)
            return True
    return False


@contextmanager
def _process_stopped(pid: int) -> Iterator[None]:
    """Stop the process within the block; it continues however the block ends."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
