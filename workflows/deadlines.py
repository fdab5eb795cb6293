"""Questions that nobody answers in time are answered by their default; waiting is one timer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.questions import OpenQuestion
    from workflows.work import Work

_LATEST = datetime.max.replace(tzinfo=UTC)


@asynccontextmanager
async def deadlines_kept(job: Work) -> AsyncIterator[None]:
    """Have the deadlines of the job's questions watched meanwhile.

    They are part of the state, so a new run watches those that an older one had.
    """

    def ended(watch: asyncio.Task[None]) -> None:
        if not watch.cancelled() and watch.exception() is not None:
            job.broken, job.has_news = watch.exception(), True

    watch = asyncio.create_task(_watch(job), name="deadlines")
    watch.add_done_callback(ended)
    try:
        yield
    finally:
        watch.cancel()


async def _watch(job: Work) -> None:
    while True:
        await workflow.wait_condition(lambda: _next(job) is not None)
        question = _next(job)
        if question is not None and await _passes(job, question):
            await job.answer_by_default(question.id)


def _next(job: Work) -> OpenQuestion | None:
    """The question whose deadline is the nearest."""
    due = [each for each in job.known.questions if each.deadline is not None]
    return min(due, key=lambda each: (each.deadline or _LATEST, each.id), default=None)


async def _passes(job: Work, question: OpenQuestion) -> bool:
    """Wait for the question's deadline; false where another one became the nearest before."""
    assert question.deadline is not None
    left = question.deadline - workflow.now()
    try:
        await workflow.wait_condition(lambda: _next(job) != question, timeout=left)
    except TimeoutError:
        return True
    return False
