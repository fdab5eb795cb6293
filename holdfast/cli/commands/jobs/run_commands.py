"""Implement `holdfast run`, `submit` and `wait`."""

from datetime import timedelta

from holdfast.cli.commands.jobs.job_notifications import notifying
from holdfast.cli.commands.jobs.job_preparation import prepare_and_run
from holdfast.cli.commands.jobs.job_watch import watch_job
from holdfast.cli.installation_access import run_with_job
from holdfast.cli.options.run_options import CheckedRun
from holdfast.cli.render.job_lines import job_lines
from holdfast.cli.render.question_lines import open_question_lines
from holdfast.cli.render.terminal_output import print_json, print_progress, print_text
from holdfast.client import Holdfast
from holdfast.jobs.open_questions import open_questions_of
from holdfast.jobs.record_in_words import way_on_from_pause
from holdfast.models.jobs.job_record import JobRequest, JobStatus
from holdfast.models.views.job_views import JobView
from holdfast.storage.views.status_and_last_event import load_job_progress

_EXIT_TIMED_OUT = 3
_MAX_WAIT_S = 10 * 365 * 86_400


def run_command(checked: CheckedRun, notify: str | None, *, json_output: bool) -> int:
    """Submit the job, watch it, and print its report; 0 when the job is done."""

    async def submit(holdfast: Holdfast, request: JobRequest) -> int:
        job_id = await holdfast.submit(request)
        async with notifying(holdfast, job_id, notify):
            return await watch_job(holdfast, job_id, json_output=json_output)

    return prepare_and_run(checked, submit)


def submit_command(checked: CheckedRun, key: str | None, *, json_output: bool) -> int:
    """Submit the job and print its id."""

    async def submit(holdfast: Holdfast, request: JobRequest) -> int:
        job_id = await holdfast.submit(request, key=key)
        if json_output:
            print_json({"job_id": job_id})
        else:
            print_text(job_id)
        if request.strategy.review:
            print_progress(f"review its plan with `holdfast answer {job_id}`")
        return 0

    return prepare_and_run(checked, submit)


def wait_command(
    job: str, timeout_s: float | None, notify: str | None, *, json_output: bool
) -> int:
    """Wait for the end of the job; 0 done, 1 failed or cancelled, 3 not yet."""
    is_endless = timeout_s is None or timeout_s > _MAX_WAIT_S
    timeout = None if is_endless else timedelta(seconds=timeout_s or 0)

    async def wait(holdfast: Holdfast, job_id: str) -> JobView:
        await _print_blockers(holdfast, job_id)
        seen = await load_job_progress(holdfast.db, job_id)
        # An entry that the user can see already is no news, but for the end of the job.
        after = seen.last_event - 1 if seen.has_ended else seen.last_event
        async with notifying(holdfast, job_id, notify, after=after):
            await holdfast.wait(job_id, timeout)
        return await holdfast.show(job_id)

    view = run_with_job(job, wait, needs_temporal=True)
    if json_output:
        print_json(view)
    else:
        for line in job_lines(view):
            print_text(line)
    if not JobStatus(view.status).is_final:
        return _EXIT_TIMED_OUT
    return 0 if view.status == JobStatus.DONE else 1


async def _print_blockers(holdfast: Holdfast, job_id: str) -> None:
    """Print that the job is paused, and its open questions."""
    job = await holdfast.wait(job_id, timedelta(0))
    if job.status is JobStatus.PAUSED:
        reason = f" ({job.message})" if job.message else ""
        print_progress(f"job {job_id} is paused{reason}; {way_on_from_pause(job_id, job.message)}")
    for question in await open_questions_of(holdfast.db, job_id):
        for line in open_question_lines(question):
            print_progress(line)
