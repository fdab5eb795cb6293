"""Define the routes that change a job: control, answers and guidance."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Header
from pydantic import Field, JsonValue

from holdfast.api.api_context import Administrator, JobSession, SteeredJob
from holdfast.api.path_numbers import RowNumber
from holdfast.jobs.job_lookup import plan_revision_of
from holdfast.jobs.job_removal import remove_ended_job
from holdfast.jobs.open_questions import find_open_question
from holdfast.jobs.written_texts import WRITTEN_TEXT, checked_guidance, checked_words
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput, PlanMoved
from holdfast.models.frozen_model import Frozen
from holdfast.models.questions.control_requests import RerunScope
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.planning.strategies.strategy_presets import with_settings
from holdfast.storage.jobs import job_rows
from holdfast.storage.jobs.job_removal import RemovedJob

_REVISION = Annotated[
    str | None,
    Header(alias="If-Match", description="The ETag of the plan that the answer is about."),
]
_MAX_TASKS = 200

router = APIRouter(prefix="/jobs/{job}", tags=["control"])


class AcceptedChange(Frozen):
    """A change that the job has accepted."""

    job_id: str
    did: str


class ResumeBody(Frozen):
    """How a job goes on."""

    settings: Mapping[str, JsonValue] = Field(
        default_factory=dict, description="Changed settings, by name."
    )


class RetryBody(Frozen):
    """Tasks that run again."""

    tasks: tuple[str, ...] = Field(min_length=1, max_length=_MAX_TASKS)
    dry_run: bool = Field(default=False, strict=True, description="Only say what would run again.")


class SteerBody(Frozen):
    """Guidance for the next planning."""

    guidance: str = Field(json_schema_extra=WRITTEN_TEXT)


class AnswerBody(Frozen):
    """An answer: a choice, a text, or both."""

    choice: str = Field(default="", description="One of the question's choices.")
    text: str = Field(
        default="",
        description="Words of your own; the edited plan in YAML; with the choice `raise`, the new "
        "cap: `2.50`, or `max_tokens=200000` where both caps are set.",
    )


@router.post("/pause", status_code=202)
async def pause_job(job: SteeredJob) -> AcceptedChange:
    """Start no more tasks of the job; running tasks finish."""
    await job.controller.pause(job.id)
    return AcceptedChange(job_id=job.id, did="paused")


@router.post("/resume", status_code=202)
async def resume_job(job: SteeredJob, body: ResumeBody | None = None) -> AcceptedChange:
    """Continue the job with everything it has found, with changed settings if there are any."""
    strategy = None
    if body is not None and body.settings:
        stored = await job_rows.load_job(job.holdfast.db, job.id)
        with error_field("settings"):
            strategy = with_settings(stored.request.strategy, body.settings)
    await job.controller.resume(job.id, strategy)
    return AcceptedChange(job_id=job.id, did="resumed")


@router.post("/cancel", status_code=202)
async def cancel_job(job: SteeredJob) -> AcceptedChange:
    """Stop the job and its calls in flight; its findings are kept."""
    await job.controller.cancel(job.id)
    return AcceptedChange(job_id=job.id, did="cancelling")


@router.post("/steer", status_code=202)
async def steer_job(job: SteeredJob, body: SteerBody) -> AcceptedChange:
    """Give guidance for the job's next planning; tasks that are planned already stay."""
    with error_field("guidance"):
        guidance = checked_guidance(body.guidance)
    await job.controller.steer(job.id, guidance)
    return AcceptedChange(job_id=job.id, did="steered")


@router.post("/retry", status_code=202)
async def retry_tasks(job: SteeredJob, body: RetryBody) -> RerunScope:
    """Run tasks and the tasks that depend on them again; everything else is kept."""
    names = list(dict.fromkeys(body.tasks))
    if body.dry_run:
        return await job.controller.preview_retry(job.id, names)
    return await job.controller.retry(job.id, names)


@router.post("/partial-report", status_code=202)
async def write_partial_report(job: SteeredJob) -> AcceptedChange:
    """Write a report of what an ended job found, unless the job has a report."""
    is_new = await job.controller.write_partial_report(job.id)
    return AcceptedChange(job_id=job.id, did="writing" if is_new else "written")


@router.post("/questions/{question}", status_code=202)
async def answer_question(
    job: SteeredJob, question: RowNumber, body: AnswerBody, revision: _REVISION = None
) -> AcceptedChange:
    """Answer an open question of the job.

    With `If-Match`, an answer about a plan counts only for that revision of the plan.
    """
    asked = await find_open_question(job.holdfast.db, job.id, question)
    if revision is not None:
        if asked.kind is not QuestionKind.APPROVAL:
            raise BadInput("If-Match belongs to an answer about the plan; leave the header out")
        await _check_revision(job, revision)
    with error_field("text"):
        words = checked_words(body.choice, body.text)
    await job.controller.answer(job.id, question, body.choice, words)
    return AcceptedChange(job_id=job.id, did="answered")


@router.delete("")
async def remove_job(job: SteeredJob, session: Administrator) -> RemovedJob:
    """Remove an ended job with everything it found."""
    return await remove_ended_job(session.holdfast, job.id)


async def _check_revision(job: JobSession, revision: str) -> None:
    # A new plan comes with a question of its own, so no plan can slip in after this check.
    current = f'"{await plan_revision_of(job.holdfast, job.id)}"'
    if revision.strip().removeprefix("W/") not in (current, "*"):
        raise PlanMoved(
            f"the plan has moved on to revision {current}, and the answer is about {revision!r}; "
            "read the plan again"
        )
