"""Print citation figures as a table or as JSON."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.evals.measures.citation_figures import (
    CitationFigures,
    MeasureComparison,
    cites_all_gold,
    holds_answer,
)
from holdfast.evals.measures.confidence_figures import confidence_lines
from holdfast.evals.measures.evaluation_engine import ComparedQuestion


def figures_as_json(found: Sequence[CitationFigures], worked: Sequence[ComparedQuestion]) -> str:
    """All figures, and a row per job."""
    return json.dumps({"figures": [_named(each) for each in found], "jobs": _jobs(worked)})


def _named(found: CitationFigures) -> dict[str, Any]:
    comparisons = [
        each._asdict() | {"difference": each.difference._asdict(), "meets_aim": each.meets_aim}
        for each in found.comparisons
    ]
    stated = found.confidence and found.confidence.model_dump(mode="json")
    return found._asdict() | {"comparisons": comparisons, "confidence": stated}


def _jobs(worked: Sequence[ComparedQuestion]) -> list[dict[str, Any]]:
    return [
        {
            "id": each.question.id,
            "question": each.question.text,
            "right": each.question.answers[0],
            "answer": each.answer,
            "confidence": each.confidence,
            "route": each.route,
            "status": each.job.status,
            "stop_reason": each.job.stop_reason,
            "message": each.job.message,
            "replans": each.job.replans,
            "seconds": each.job.seconds,
            "gold": sorted(each.question.gold),
            "cited": [passage.address for passage in each.ours.passages],
            "keyword": [passage.address for passage in each.keyword.passages],
            "holds_answer": holds_answer(each.question, each.ours),
            "cites_all_gold": cites_all_gold(each.question, each.ours),
        }
        for each in worked
    ]


def citation_lines(found: Sequence[CitationFigures]) -> Iterator[str]:
    """A table to be read in a terminal."""
    yield f"{'':47}{'n':>5}{'ours':>7}{'search':>8}{'points':>8}  95% interval    aim of 10"
    for group in found:
        yield group.group
        yield from (_comparison_line(each) for each in group.comparisons)
        yield _answer_line(group)
        yield _job_line(group)
        yield from (f"  {line}" for line in confidence_lines(group.confidence))
        yield "  ended: " + ", ".join(f"{name} {count}" for name, count in group.reasons.items())


def _comparison_line(found: MeasureComparison) -> str:
    mean, low, high = found.difference
    return (
        f"  {found.measure:45}{found.questions:5}{found.ours:7.1f}{found.keyword:8.1f}{mean:+8.1f}"
        f"  {low:+6.1f} to {high:+6.1f}  {'met' if found.meets_aim else 'not met'}"
    )


def _answer_line(found: CitationFigures) -> str:
    return (
        f"  answers: exact match {found.exact_match:.1f}, F1 {found.f1:.1f}; passages cited "
        f"{found.passages_cited:.2f}, by the search {found.passages_cited_by_keyword:.2f}; "
        f"{found.citations_that_open:.1f}% of {found.citations} citations open their passage"
    )


def _job_line(found: CitationFigures) -> str:
    return (
        f"  jobs: {found.questions}, done {found.done:.1f}%, failed {found.failed:.1f}%; "
        f"{found.replans_per_job:.2f} replans a job; seconds a job: median "
        f"{found.seconds_median:.2f}, mean {found.seconds_mean:.2f}"
    )
