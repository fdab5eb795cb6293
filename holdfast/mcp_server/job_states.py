"""Say what a job does, in the words of the tools, and wait for a change."""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

from holdfast.client import Holdfast
from holdfast.jobs.current_status import status_of
from holdfast.jobs.dry_run_estimate import dry_run_of
from holdfast.jobs.job_lookup import plan_of, report_of
from holdfast.jobs.open_questions import open_questions_of
from holdfast.mcp_server.caller_access import KnownCaller
from holdfast.mcp_server.commands_as_tools import in_tools
from holdfast.mcp_server.text_parts import text_parts
from holdfast.mcp_server.tool_answers import (
    AskedQuestion,
    ExpectedAmounts,
    ResearchState,
    UsedAmount,
)
from holdfast.models.errors import NotFound
from holdfast.models.jobs.job_record import Job, JobStatus, StopReason
from holdfast.models.plans.research_plan import Plan
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.views.status_views import StatusDocument, WaitingQuestion
from holdfast.reports.markdown_and_json_rendering import to_markdown
from holdfast.storage.jobs import job_rows

_LOOK_EVERY = timedelta(seconds=1)
_MAX_TEXT = 4_000
_MAX_LINES = 12


async def state_of(known: KnownCaller, job_id: str, note: str = "") -> ResearchState:
    """What the job does now.

    Raises:
        NotFound: there is no such job.
    """
    holdfast = known.holdfast
    document = await status_of(holdfast, job_id)
    # After the document: a job that ends in between must not seem to be without a report.
    parts = len(await report_parts(holdfast, job_id))
    job = await job_rows.load_job(holdfast.db, job_id)
    plan = await plan_of(holdfast, job_id)
    return ResearchState(
        job=job_id,
        status=job.status.value,
        asked=shorten_text(job.request.question, _MAX_TEXT),
        answer=shorten_text(job.answer, _MAX_TEXT) if job.answer else None,
        message=shorten_text(job.message, _MAX_TEXT),
        page=known.page_of(job_id),
        tasks=dict(Counter(task.status.value for task in Plan(tasks=plan.tasks).live)),
        doing=_doing(document),
        blocked_by=tuple(map(in_tools, document.blocked_by[:_MAX_LINES])),
        questions=tuple(map(_asked, document.questions)),
        estimate=await _estimate(holdfast, job_id, document.questions),
        used=tuple(
            UsedAmount(what=each.what, used=each.used, limit=each.limit)
            for each in document.allowances
        ),
        report_parts=parts,
        note=note,
        next=_next_call(job, document, parts),
    )


async def report_parts(holdfast: Holdfast, job_id: str) -> tuple[str, ...]:
    """The report as Markdown in parts; empty if there is none."""
    try:
        return text_parts(to_markdown(await report_of(holdfast, job_id)))
    except NotFound:
        return ()


async def wait_for_change(
    holdfast: Holdfast,
    job_id: str,
    within: timedelta,
    is_news: Callable[[WaitingQuestion], bool],
) -> None:
    """Wait until the job ends, pauses, or asks a question that is news; at most `within`.

    Raises:
        NotFound: there is no such job.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + within.total_seconds()
    while True:
        questions = await open_questions_of(holdfast.db, job_id)
        left = timedelta(seconds=max(0.0, end - loop.time()))
        if any(map(is_news, questions)) or not left:
            return
        job = await holdfast.wait(job_id, min(left, _LOOK_EVERY), or_paused=True)
        if job.status.is_final or job.status is JobStatus.PAUSED:
            return


def _doing(document: StatusDocument) -> tuple[str, ...]:
    running = [f"{each.what}: {each.state}" for each in document.doing]
    calls = [
        f"{each.role} waits for {each.model}" + (f": {each.why}" if each.why else "")
        for each in document.model_calls
    ]
    coming = [f"next: {each}" for each in document.next]
    return tuple(shorten_text(line, 200) for line in (*running, *calls, *coming)[:_MAX_LINES])


def _asked(question: WaitingQuestion) -> AskedQuestion:
    return AskedQuestion(
        question=question.id,
        kind=question.kind,
        text=shorten_text(question.text, _MAX_TEXT),
        choices=question.choices,
        default=question.default,
        deadline=question.deadline,
    )


async def _estimate(
    holdfast: Holdfast, job_id: str, questions: tuple[WaitingQuestion, ...]
) -> ExpectedAmounts | None:
    if all(each.kind != QuestionKind.APPROVAL for each in questions):
        return None
    estimate = (await dry_run_of(holdfast, job_id)).estimate
    return ExpectedAmounts(
        seconds=estimate.seconds,
        model_calls=estimate.model_calls,
        tool_calls=estimate.tool_calls,
        tokens=estimate.tokens and estimate.tokens.input + estimate.tokens.output,
        cost=estimate.cost,
    )


def _next_call(job: Job, document: StatusDocument, parts: int) -> str:
    if document.questions:
        return "ask the user, and answer with research_answer; then call research_wait"
    if parts:
        count = "" if parts == 1 else f"; it has {parts} parts"
        return f"read the report with research_report{count}"
    if job.stop_reason is StopReason.PLANNED:
        return "the job has only planned; if the user wants it, research_resume runs the plan"
    if job.status.is_final:
        return "the job ended without a report; research_stop has it report what it found"
    if job.status is JobStatus.PAUSED:
        return "the job is paused; if the user wants it, research_resume continues it"
    return "call research_wait"
