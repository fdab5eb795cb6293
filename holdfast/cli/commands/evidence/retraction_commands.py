"""Implement `holdfast retract`: retract evidence and print everything that depends on it."""

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.evidence.retraction_lines import retraction_lines
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.client import Holdfast
from holdfast.evidence.evidence_retraction import retract_job_evidence
from holdfast.jobs.current_user import current_user
from holdfast.models.evidence.evidence import Retraction


def retract_command(job: str, evidence_id: int, reason: str, *, json_output: bool) -> None:
    """Retract the evidence."""

    async def retract(holdfast: Holdfast, job_id: str) -> tuple[str, Retraction]:
        by = current_user()
        return job_id, await retract_job_evidence(
            holdfast.db, job_id, evidence_id, reason=reason, by=by
        )

    job_id, retraction = run_with_job(job, retract)
    if json_output:
        print_json(retraction)
        return
    for line in retraction_lines(job_id, retraction):
        print_text(line)
