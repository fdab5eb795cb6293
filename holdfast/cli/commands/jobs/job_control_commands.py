"""Implement `holdfast pause`, `resume`, `cancel`, `retry`, `steer` and partial reports."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.terminal_output import print_json, print_progress, print_text
from holdfast.client import Holdfast
from holdfast.jobs.current_user import current_user
from holdfast.jobs.job_controller import JobController
from holdfast.jobs.record_in_words import way_on_from_pause
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.questions.control_requests import RerunScope
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.planning.strategies.strategy_presets import with_settings
from holdfast.storage.jobs import job_rows

ResultT = TypeVar("ResultT")

_REPORT_TIMEOUT = timedelta(minutes=10)


def pause_command(job: str, *, json_output: bool) -> None:
    """Pause the job."""

    async def pause(controller: JobController, job_id: str) -> str:
        await controller.pause(job_id)
        return job_id

    job_id = _control(job, pause)
    _print_result(
        job_id,
        "paused",
        f"job {job_id} is paused: running tasks finish, no other task starts; continue with "
        f"`holdfast resume {job_id}`",
        json_output=json_output,
    )


def resume_command(job: str, changes: Mapping[str, str], *, json_output: bool) -> None:
    """Resume the job, with changed settings if there are any."""

    async def resume(controller: JobController, job_id: str) -> str:
        strategy: Strategy | None = None
        if changes:
            stored = await job_rows.load_job(controller.holdfast.db, job_id)
            strategy = with_settings(stored.request.strategy, changes)
        await controller.resume(job_id, strategy)
        return job_id

    job_id = _control(job, resume)
    _print_result(job_id, "resumed", _continues_message(job_id), json_output=json_output)


def cancel_command(job: str, *, json_output: bool) -> None:
    """Cancel the job."""

    async def cancel(controller: JobController, job_id: str) -> str:
        await controller.cancel(job_id)
        return job_id

    job_id = _control(job, cancel)
    _print_result(
        job_id,
        "cancelling",
        f"job {job_id} is being cancelled; its findings are kept: "
        f"`holdfast report {job_id} --partial` writes a report of them",
        json_output=json_output,
    )


def retry_command(job: str, names: Sequence[str], *, dry_run: bool, json_output: bool) -> None:
    """Run tasks again, or only print which tasks would run again."""
    names = list(dict.fromkeys(names))

    async def retry(controller: JobController, job_id: str) -> tuple[str, RerunScope]:
        scope = await controller.preview_retry(job_id, names)
        if not json_output:
            print_text(f"runs again: {', '.join(scope.rerun)}")
            print_text(f"is kept:    {', '.join(scope.kept) or 'nothing'}")
        return job_id, scope if dry_run else await controller.retry(job_id, names)

    job_id, scope = _control(job, retry)
    if json_output:
        print_json(scope)
    elif not dry_run:
        print_text(_continues_message(job_id))


def steer_command(job: str, guidance: str, *, json_output: bool) -> None:
    """Give guidance for the job's next planning."""

    async def steer(controller: JobController, job_id: str) -> str:
        await controller.steer(job_id, guidance)
        return job_id

    job_id = _control(job, steer)
    _print_result(
        job_id,
        "steered",
        f"the next planning of {job_id} gets this guidance; tasks already planned stay",
        json_output=json_output,
    )


def partial_report_command(job: str) -> None:
    """Write a report of what a stopped job found, unless the job has a report."""

    async def write(controller: JobController, job_id: str) -> None:
        if not await controller.write_partial_report(job_id):
            return
        print_progress("writing a report of what was found")
        stored = await controller.holdfast.wait(job_id, _REPORT_TIMEOUT, or_paused=True)
        if stored.status is JobStatus.PAUSED:
            way_on = way_on_from_pause(job_id, stored.message)
            print_progress(f"the report is not written yet: {stored.message}; {way_on}")

    _control(job, write)


def _control(job: str, action: Callable[[JobController, str], Awaitable[ResultT]]) -> ResultT:
    async def act(holdfast: Holdfast, job_id: str) -> ResultT:
        return await action(JobController(holdfast, current_user()), job_id)

    return run_with_job(job, act, needs_temporal=True)


def _continues_message(job_id: str) -> str:
    return f"job {job_id} continues; wait for its end with `holdfast wait {job_id}`"


def _print_result(job_id: str, action: str, message: str, *, json_output: bool) -> None:
    if json_output:
        print_json({"job_id": job_id, "did": action})
    else:
        print_text(message)
