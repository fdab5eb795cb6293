"""Describe how a report was made and checked: stages, sentences, verification, delivery checks."""

import re
from collections import Counter
from collections.abc import Iterable

from holdfast.models.budget.job_stages import Stage, StageName
from holdfast.models.evidence.evidence import (
    CheckSummary,
    DeliveryCheck,
    EvidenceLevel,
    Report,
)
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL

_CHECK_LABELS = {"questions": "Open questions", "spend": "Accounting"}
_LEVEL_WORDS = {
    EvidenceLevel.NONE: "without a source",
    EvidenceLevel.SINGLE_SOURCE: "with a single source",
    EvidenceLevel.CORROBORATED: "corroborated by several documents",
    EvidenceLevel.PRIMARY: "with a primary source",
}
_ROUTINE = re.compile(r"none|none found|every call is accounted for|(\d+) of \1 done")
"""The results of checks that found nothing special; `report --format json` has them all."""


def check_lines(report: Report) -> list[str]:
    """Return lines that say how the report was checked; none for releases without checks."""
    lines = []
    if report.check_summary is not None:
        lines += [
            *check_summary_lines(report.check_summary),
            *same_model_lines(report),
            *delivery_check_lines(report.delivery_checks),
        ]
    lines += _level_lines(report)
    if report.rechecked_at is not None:
        lines.append(
            f"Its sources were last read again on {report.rechecked_at:%Y-%m-%d %H:%M %Z}."
        )
    return lines


def _level_lines(report: Report) -> list[str]:
    """Return a line that counts the cited sentences by the level of their evidence.

    None if all have one level, and the findings say it. The short answer with the marks of the
    sentences that give it is none of them.
    """
    cited = (each for each in report.sentences if each.marks and each.text != report.answer)
    counts = Counter(each.level for each in cited if each.level)
    if len(counts) == 1 and any(each.level in counts for each in report.findings):
        return []
    counted = [f"{counts[level]} {_LEVEL_WORDS[level]}" for level in EvidenceLevel if counts[level]]
    return [f"Cited sentences: {', '.join(counted)}"] if counted else []


def same_model_lines(report: Report) -> list[str]:
    """Return a line if the model that wrote the sentences has judged them; else none.

    A model that judges its own sentences overlooks what it got wrong.
    """
    summary = report.check_summary
    is_own = summary is not None and summary.judged > 0 and summary.checked_by == report.model
    return ["Written and judged by the same model: no other one has read it"] if is_own else []


def stage_lines(report: Report) -> list[str]:
    """Return a line for each stage of a job that was planned after its loop; else none."""
    begun = {stage.name for stage in report.stages}
    if not begun >= {StageName.LOOP, StageName.PLAN}:
        return []
    return [f"{_stage_amounts(stage)}. {stage.why}" for stage in report.stages]


def _stage_amounts(stage: Stage) -> str:
    calls, tokens = stage.model_calls + stage.tool_calls, stage.input_tokens + stage.output_tokens
    counted = "1 call" if calls == 1 else f"{calls:,} calls"
    return f"{stage.name.in_words.capitalize()}: {counted}, {tokens:,} tokens"


def check_summary_lines(summary: CheckSummary) -> list[str]:
    """Return lines that say how sentences were checked and why verification stopped."""
    lines = [_sentences_line(summary)]
    if summary.stop is not None:
        lines.append(f"Verification stopped: {summary.stop.in_words}")
    return lines


def _sentences_line(summary: CheckSummary) -> str:
    if not summary.checked:
        return "No sentence was written, so none was checked"
    hedged = f", {summary.hedged} hedged" if summary.hedged else ""
    counts = f"{summary.kept} kept{hedged}, {summary.dropped} dropped"
    outcome = "all kept" if summary.kept == summary.checked else counts
    sentences = "1 sentence" if summary.checked == 1 else f"{summary.checked} sentences"
    line = f"{sentences} checked ({_judges(summary)}): {outcome}"
    if not summary.refused:
        return line
    return f"{line}; {summary.refused} of the first draft sent back to the writer"


def _judges(summary: CheckSummary) -> str:
    """Say who checked how many sentences; the numbers add up to all that were checked."""
    by_rules = summary.checked - summary.judged
    if not summary.judged:
        return "by rules, no model"
    if not by_rules:
        return f"by {summary.checked_by}"
    return f"{summary.judged} by {summary.checked_by}, {by_rules} by rules"


def delivery_check_lines(checks: Iterable[DeliveryCheck]) -> list[str]:
    """Return a line with subject and result for each delivery check that has something to tell.

    Every check of a delivered report has passed, so only what was counted is news.
    """
    return [
        f"{_CHECK_LABELS.get(check.name, check.name.capitalize())}: {check.detail}"
        for check in checks
        if not (check.has_passed and _ROUTINE.fullmatch(check.detail))
    ]


def author_line(report: Report) -> str:
    """Return the line that names the author of the report."""
    if report.model == EXTRACTIVE_MODEL:
        return f"Written by the built-in model ({EXTRACTIVE_MODEL}): quotes only."
    return f"Written by {report.model}." if report.model else "No model wrote this report."
