"""Measure a finished job and build the stored record of its evaluation run."""

from holdfast.client import Holdfast
from holdfast.evals.measures.answer_metrics import best_f1, is_exact_match, is_in_passages
from holdfast.evals.measures.question_files import EvaluationQuestion
from holdfast.evals.presets.answer_judge import JudgeVerdict
from holdfast.evals.presets.run_records import PresetArm, QuestionRun, RoleUsage, question_hash
from holdfast.models.budget.spend_breakdown import Spend
from holdfast.models.evidence.evidence import Report
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.views.statistics_queries import run_statistics


async def measure_run(
    holdfast: Holdfast, arm: PresetArm, question: EvaluationQuestion, job_id: str
) -> QuestionRun:
    """Return the results and cost of a finished job, before the judge's verdict."""
    job = await holdfast.show(job_id)
    counted = await run_statistics(holdfast.db, job_id)
    answer = job.answer or ""
    report = await load_report(holdfast.db, job_id)
    return QuestionRun(
        preset=arm.preset,
        variant=arm.variant,
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
        exact=is_exact_match(answer, question.answers),
        f1=best_f1(answer, question.answers),
        confidence=report.confidence if report else None,
        route=report.route if report else None,
        in_report=is_in_passages(question.answers, _told(report)),
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


def _told(report: Report | None) -> list[str]:
    """What the report says and quotes; nothing where none was delivered."""
    if report is None:
        return []
    said = [each.text for each in (*report.summary, *report.findings)]
    return [*said, *(each.quote for each in report.citations)]


def with_verdict(run: QuestionRun, verdict: JudgeVerdict) -> QuestionRun:
    """The line with its verdict."""
    return run.model_copy(update={"verdict": verdict.label, "judged_by": verdict.by})


def _spent(share: Spend) -> RoleUsage:
    return RoleUsage(
        calls=share.calls, input_tokens=share.input_tokens, output_tokens=share.output_tokens
    )
