"""Let a question follow an ended job: start from what the job's report cites (REP-08).

The loop of the new job gets the quotes of the earlier report under numbers that it may cite, so an
answer that they show costs one model call and one judgement. Every model sees the earlier questions
with their answers below the question; lists and the report have the user's own words alone. The new
job reads the collection and uses the tool servers of the earlier one: what was private stays so.
"""

from holdfast.client import Holdfast
from holdfast.jobs.job_lookup import find_job_id, report_of
from holdfast.models.errors import BadInput
from holdfast.models.jobs.follow_up import MOST_EARLIER, EarlierQuestion, FollowUp
from holdfast.models.jobs.job_record import JobRequest
from holdfast.storage.jobs import job_rows


async def follow_up_request(holdfast: Holdfast, job: str, request: JobRequest) -> JobRequest:
    """Return the request as one that follows `job`, which may be the beginning of its id.

    Raises:
        BadInput: several jobs begin so, or the preset does not begin with a cited loop.
        NotFound: there is no such job, or no report of it.
    """
    if not request.strategy.begins_as_loop:
        raise BadInput(
            f"the preset {request.preset!r} cannot follow another job, because it does not begin "
            "with a cited loop; take the preset loop or research"
        )
    job_id = await find_job_id(holdfast.db, job)
    before = (await job_rows.load_job(holdfast.db, job_id)).request
    report = await report_of(holdfast, job_id)
    asked = EarlierQuestion(question=before.question, answer=report.answer or "")
    earlier = (*(before.follow_up.earlier if before.follow_up else ()), asked)
    return request.model_copy(
        update={
            "collection": before.collection,
            "servers": before.servers,
            "follow_up": FollowUp(job=job_id, earlier=earlier[-MOST_EARLIER:]),
        }
    )
