"""Implement `holdfast verification`: print the verdicts of each verification round."""

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.evidence.verification_lines import (
    contradiction_line,
    round_lines,
    verdict_table,
)
from holdfast.cli.render.terminal_output import console, print_json, print_text
from holdfast.client import Holdfast
from holdfast.jobs.verification_lookup import verification_of
from holdfast.models.jobs.job_record import Job
from holdfast.models.verification.verification_views import VerificationRoundView, VerificationView
from holdfast.storage.jobs import job_rows


def verification_command(job: str, *, json_output: bool) -> None:
    """Print every verification round of the job and its contradictions."""

    async def read(holdfast: Holdfast, job_id: str) -> tuple[Job, VerificationView]:
        stored = await job_rows.load_job(holdfast.db, job_id)
        return stored, await verification_of(holdfast.db, job_id)

    stored, view = run_with_job(job, read)
    if json_output:
        print_json(view)
        return
    if not view.rounds:
        print_text(_missing_rounds_message(stored))
        return
    for round_ in view.rounds:
        _print_round(round_)
    for contradiction in view.contradictions:
        print_text(contradiction_line(contradiction))


def _missing_rounds_message(job: Job) -> str:
    if job.request.strategy.verify:
        return f"job {job.id} has no verification yet"
    return (
        f"job {job.id} has no verification: preset {job.request.preset} does not verify; "
        "`--preset research` does"
    )


def _print_round(round_: VerificationRoundView) -> None:
    for line in round_lines(round_.check):
        print_text(line)
    console().print(verdict_table(round_))
