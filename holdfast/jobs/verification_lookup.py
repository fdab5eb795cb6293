"""Look up the verification rounds and contradictions of a job."""

from holdfast.models.verification.verification_views import VerificationRoundView, VerificationView
from holdfast.planning.verification.contradiction_rules import distinct_contradictions
from holdfast.storage.core.database import Database
from holdfast.storage.evidence import verification_rows
from holdfast.storage.jobs import job_rows


async def verification_of(db: Database, job_id: str) -> VerificationView:
    """All verification rounds of the job.

    Raises:
        NotFound: there is no such job.
    """
    await job_rows.load_job(db, job_id)
    verdicts = await verification_rows.verdicts_of(db, job_id)
    stop_log = await verification_rows.verification_rounds_of(db, job_id)
    rounds = tuple(
        VerificationRoundView(check=entry, verdicts=verdicts.get(entry.round, ()))
        for entry in stop_log
    )
    return VerificationView(
        job_id=job_id,
        rounds=rounds,
        stopped_by=rounds[-1].check.fired if rounds else None,
        contradictions=distinct_contradictions(rounds[-1].verdicts) if rounds else (),
    )
