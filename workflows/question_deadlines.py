"""Watch the deadlines of a job's open questions and answer overdue questions by default."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from holdfast.models.questions.user_questions import OpenQuestion
    from holdfast.workflows.job_actions import JobActions

_LATEST = datetime.max.replace(tzinfo=UTC)


@asynccontextmanager
async def watch_deadlines(job: JobActions) -> AsyncIterator[None]:
    """Watch the deadlines of the job's questions while the block runs.

    Questions are part of the job's state, so a new run watches the same deadlines.
    """

    def ended(watch: asyncio.Task[None]) -> None:
        if not watch.cancelled() and watch.exception() is not None:
            job.unexpected_error, job.has_news = watch.exception(), True

    watch = asyncio.create_task(_answer_overdue_questions(job), name="deadlines")
    watch.add_done_callback(ended)
    try:
        yield
    finally:
        watch.cancel()


async def _answer_overdue_questions(job: JobActions) -> None:
    while True:
        await workflow.wait_condition(lambda: _nearest_deadline(job) is not None)
        question = _nearest_deadline(job)
        if question is not None and await _deadline_passes(job, question):
            await job.answer_by_default(question)


def _nearest_deadline(job: JobActions) -> OpenQuestion | None:
    """Return the question with the nearest deadline, or None."""
    due = [question for question in job.known.questions if question.deadline is not None]
    return min(due, key=lambda question: (question.deadline or _LATEST, question.id), default=None)


async def _deadline_passes(job: JobActions, question: OpenQuestion) -> bool:
    """Wait for the question's deadline; return False if another deadline became nearer."""
    assert question.deadline is not None
    left = question.deadline - workflow.now()
    try:
        await workflow.wait_condition(lambda: _nearest_deadline(job) != question, timeout=left)
    except TimeoutError:
        return True
    return False
