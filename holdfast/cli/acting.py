"""The commands that change a job: pause, resume, cancel, retry, steer, write up."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TypeVar

from holdfast.cli.installation import attached
from holdfast.cli.output import print_json, print_text, say
from holdfast.cli.requests import changes_of, checked_guidance, who_asks
from holdfast.control import Controller
from models.control import Rerun
from models.jobs import JobStatus
from models.strategy import Strategy
from planning.presets import with_settings
from storage import jobs

ResultT = TypeVar("ResultT")

_WRITTEN_WITHIN = timedelta(minutes=10)


def pause_command(job_id: str, *, json_output: bool) -> None:
    _act(lambda controller: controller.pause(job_id))
    _tell(
        job_id,
        "paused",
        f"job {job_id} is paused: what runs comes to its end, nothing else starts; go on with "
        f"`holdfast resume {job_id}`",
        json_output=json_output,
    )


def resume_command(job_id: str, settings: Sequence[str], *, json_output: bool) -> None:
    changes = changes_of(settings)

    async def resume(controller: Controller) -> None:
        strategy: Strategy | None = None
        if changes:
            job = await jobs.load(controller.holdfast.db, job_id)
            strategy = with_settings(job.request.strategy, changes)
        await controller.resume(job_id, strategy)

    _act(resume)
    _tell(
        job_id,
        "resumed",
        f"job {job_id} goes on; see it through with `holdfast wait {job_id}`",
        json_output=json_output,
    )


def cancel_command(job_id: str, *, json_output: bool) -> None:
    _act(lambda controller: controller.cancel(job_id))
    _tell(
        job_id,
        "cancelling",
        f"job {job_id} is being cancelled; what it found is kept: "
        f"`holdfast report {job_id} --partial` has it written up",
        json_output=json_output,
    )


def retry_command(job_id: str, names: Sequence[str], *, dry_run: bool, json_output: bool) -> None:
    names = list(dict.fromkeys(names))

    async def retry(controller: Controller) -> Rerun:
        shown = await controller.preview_retry(job_id, names)
        if not json_output:
            _print_rerun(shown)
        return shown if dry_run else await controller.retry(job_id, names)

    chosen = _act(retry)
    if json_output:
        print_json(chosen)
    elif not dry_run:
        print_text(f"job {job_id} goes on; see it through with `holdfast wait {job_id}`")


def _print_rerun(chosen: Rerun) -> None:
    print_text(f"runs again: {', '.join(chosen.again)}")
    print_text(f"is kept:    {', '.join(chosen.kept) or 'nothing'}")


def steer_command(job_id: str, given: str, *, json_output: bool) -> None:
    words = checked_guidance(given)
    _act(lambda controller: controller.steer(job_id, words))
    _tell(
        job_id,
        "steered",
        f"the next planning of {job_id} will heed it; what is planned already stays",
        json_output=json_output,
    )


def write_up_command(job_id: str) -> None:
    """Have the findings of a stopped job written up, unless they are."""

    async def write_up(controller: Controller) -> None:
        if not await controller.report_what_there_is(job_id):
            return
        say("writing up what was found")
        job = await controller.holdfast.wait(job_id, _WRITTEN_WITHIN, or_paused=True)
        if job.status is JobStatus.PAUSED:
            way_out = f"go on with `holdfast resume {job_id}`"
            say(f"the report is not written yet: {job.message}; {way_out}")

    _act(write_up)


def _act(action: Callable[[Controller], Awaitable[ResultT]]) -> ResultT:
    async def act() -> ResultT:
        async with attached() as holdfast:
            return await action(Controller(holdfast, who_asks()))

    return asyncio.run(act())


def _tell(job_id: str, what: str, words: str, *, json_output: bool) -> None:
    if json_output:
        print_json({"job_id": job_id, "did": what})
    else:
        print_text(words)
