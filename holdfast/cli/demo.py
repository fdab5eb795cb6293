"""`holdfast demo`: a question over the documents that come with Holdfast, with a crash if wished.

The crash is a real one: the worker's process is killed with SIGKILL while a task of the job is at
work and has an answer in the ledger. To hit that moment the process is stopped, PostgreSQL is
asked, and the process is killed or let go on.
"""

import asyncio
import os
import signal
import tomllib
from collections.abc import Awaitable, Callable
from importlib.resources import as_file, files
from pathlib import Path

from holdfast.cli.output import say
from holdfast.cli.recovery_lines import recovery_lines
from holdfast.cli.requests import Wish
from holdfast.cli.running import prepared, watched
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
    worker = current_worker(holdfast.settings.home)
    if worker is None:
        raise BadInput("--crash kills the worker of `holdfast up`, and none runs here")
    killing = asyncio.create_task(_kill_in_mid_run(holdfast, job_id, worker))
    code = await watched(holdfast, job_id, json_output=json_output)
    if not await killing:
        say("the job was over before its worker could be killed in mid-task; try again")
        return code
    view = await holdfast.show(job_id)
    for line in (line for recovery in view.recoveries for line in recovery_lines(recovery)):
        say(line)
    return code


async def _kill_in_mid_run(holdfast: Holdfast, job_id: str, worker: RunningProcess) -> bool:
    """Kill the worker while it has something to lose; false if the job was over before."""
    while (await jobs.load(holdfast.db, job_id)).status not in FINAL:
        os.kill(worker.pid, signal.SIGSTOP)
        if await has_answers_under_way(holdfast.db, job_id):
            os.kill(worker.pid, signal.SIGKILL)
            say(f"  killed the worker (pid {worker.pid}) with SIGKILL")
            return True
        os.kill(worker.pid, signal.SIGCONT)
        await asyncio.sleep(_LOOK_EVERY_S)
    return False
