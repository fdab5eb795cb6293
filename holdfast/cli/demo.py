"""`holdfast demo`: a question over the documents that come with Holdfast, with a crash if wished.

The crash is a real one: the worker's process is killed with SIGKILL while a task of the job is at
work and has an answer in the ledger. To hit that moment the process is stopped, PostgreSQL is
asked, and the process is killed or let go on, whatever becomes of the question.
"""

import asyncio
import os
import signal
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path

from holdfast.cli.output import say
from holdfast.cli.recovery_lines import recovery_lines
from holdfast.cli.requests import Wish
from holdfast.cli.running import INTERRUPTED, prepared, watched
from holdfast.client import Holdfast
from holdfast.services.state import RunningProcess
from holdfast.services.worker_process import current_worker
from models.errors import BadInput
from models.jobs import EXTRACTIVE, FINAL, JobRequest
from storage import jobs
from storage.views import has_answers_under_way

_LOOK_EVERY_S = 0.004

Work = Callable[[Holdfast, JobRequest], Awaitable[int]]


def demo_command(*, crash: bool, json_output: bool) -> int:
    """The first question of the collection that comes with Holdfast."""
    folder = files("holdfast").joinpath("demo")
    asked = tomllib.loads(folder.joinpath("questions.toml").read_text("utf-8"))
    question = asked["question"][0]["question"]

    async def work(holdfast: Holdfast, request: JobRequest) -> int:
        if crash and current_worker(holdfast.settings.home) is None:
            raise BadInput("--crash kills the worker of `holdfast up`, and none runs here")
        job_id = await holdfast.submit(request)
        if not crash:
            return await watched(holdfast, job_id, json_output=json_output)
        return await _watched_and_killed(holdfast, job_id, json_output=json_output)

    with as_file(folder.joinpath("collection")) as collection:
        say(f"question: {question}")
        say(f"documents: {collection}")
        wish = Wish(question, docs=Path(collection), preset="kpi-chain", model=EXTRACTIVE)
        return asyncio.run(prepared(wish, work))


async def _watched_and_killed(holdfast: Holdfast, job_id: str, *, json_output: bool) -> int:
    worker = partial(current_worker, holdfast.settings.home)
    killing = asyncio.create_task(kill_in_mid_run(holdfast, job_id, worker))
    try:
        code = await watched(holdfast, job_id, json_output=json_output)
    finally:
        # Whoever stops watching does not wait for it; and the job's end may come before its look.
        killing.cancel()
        await asyncio.wait([killing])
    if code == INTERRUPTED:
        return code
    if killing.cancelled() or not killing.result():
        say("the job was over before its worker could be killed in mid-task; try again")
        return code
    view = await holdfast.show(job_id)
    for line in (line for recovery in view.recoveries for line in recovery_lines(recovery)):
        say(line)
    return code


async def kill_in_mid_run(
    holdfast: Holdfast, job_id: str, current: Callable[[], RunningProcess | None]
) -> bool:
    """Kill the worker while it has something to lose; false if the job was over before."""
    while (await jobs.load(holdfast.db, job_id)).status not in FINAL:
        # Asked each time: it may die by itself, and another is started.
        worker = current()
        if worker and await _killed(holdfast, job_id, worker.pid):
            say(f"  killed the worker (pid {worker.pid}) with SIGKILL")
            return True
        await asyncio.sleep(_LOOK_EVERY_S)
    return False


async def _killed(holdfast: Holdfast, job_id: str, pid: int) -> bool:
    with suppress(ProcessLookupError), _stopped(pid):
        if await has_answers_under_way(holdfast.db, job_id):
            os.kill(pid, signal.SIGKILL)
            return True
    return False


@contextmanager
def _stopped(pid: int) -> Iterator[None]:
    """The process stands still meanwhile; it goes on however the block ends."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
