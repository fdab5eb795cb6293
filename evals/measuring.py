"""From an ended job to the line that is kept of it."""

from evals.judging import Verdict
from evals.metrics import best_f1, exact, stands_in
from evals.questions import Question
from evals.records import Arm, Run, Spent, question_hash
from holdfast.client import Holdfast
from models.spending import Spend
from storage.evidence import load_report
from storage.stats import stats


async def measured(holdfast: Holdfast, arm: Arm, question: Question, job_id: str) -> Run:
    """What the job came to and spent; the verdict is still open."""
    job = await holdfast.show(job_id)
    counted = await stats(holdfast.db, job_id)
    answer = job.answer or ""
    return Run(
        preset=arm.preset,
        question=question.id,
        question_hash=question_hash(question),
        kind=question.kind,
        config_hash=job.config_hash,
        job_id=job_id,
        status=job.status,
        stop_reason=job.stop_reason or "",
        message=job.message[:500],
        right=question.answers,
        answer=answer,
        exact=exact(answer, question.answers),
        f1=best_f1(answer, question.answers),
        in_report=stands_in(question.answers, await _told(holdfast, job_id)),
        verdict="",
        roles={each.name: _spent(each) for each in counted.by_role},
        tool_calls=job.calls.tool,
        repeated_calls=job.repeated_calls,
        replans=job.replans,
        failures={name: count for name, count in counted.failures_by_component.items() if count},
        depth=job.depth,
        breadth=job.breadth,
        seconds=job.seconds or 0.0,
    )


async def _told(holdfast: Holdfast, job_id: str) -> list[str]:
    """What the report says and quotes; nothing where none was delivered."""
    report = await load_report(holdfast.db, job_id)
    if report is None:
        return []
    said = [each.text for each in (*report.summary, *report.findings)]
    return [*said, *(each.quote for each in report.citations)]


def judged(run: Run, verdict: Verdict) -> Run:
    """The line with its verdict."""
    return run.model_copy(update={"verdict": verdict.label, "judged_by": verdict.by})


def _spent(share: Spend) -> Spent:
    return Spent(
        calls=share.calls, input_tokens=share.input_tokens, output_tokens=share.output_tokens
    )
