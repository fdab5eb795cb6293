"""Compute the citation figures of worked questions, by group of questions."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from holdfast.evals.measures.answer_metrics import (
    Interval,
    best_f1,
    bootstrap_interval,
    is_exact_match,
    is_in_passages,
)
from holdfast.evals.measures.confidence_figures import ConfidenceFigures, confidence_figures
from holdfast.evals.measures.evaluation_engine import ComparedQuestion
from holdfast.evals.measures.keyword_baseline import CitedPassages
from holdfast.evals.measures.question_files import EvaluationQuestion
from holdfast.models.jobs.job_record import JobStatus, StopReason

AIM_POINTS = 10.0

_Side: TypeAlias = Callable[[EvaluationQuestion, CitedPassages], bool]


class MeasureComparison(NamedTuple):
    """One measure on both sides, in percent of the questions; the difference in points."""

    measure: str
    questions: int
    ours: float
    keyword: float
    difference: Interval

    @property
    def meets_aim(self) -> bool:
        return self.difference.mean >= AIM_POINTS


class CitationFigures(NamedTuple):
    """All figures of one group; shares in percent."""

    group: str
    questions: int
    comparisons: tuple[MeasureComparison, ...]
    exact_match: float
    f1: float
    done: float
    failed: float
    reasons: dict[str, int]
    replans_per_job: float
    seconds_median: float
    seconds_mean: float
    passages_cited: float
    passages_cited_by_keyword: float
    citations: int
    citations_that_open: float
    confidence: ConfidenceFigures | None


def citation_figures(worked: Sequence[ComparedQuestion], fitted: int = 0) -> list[CitationFigures]:
    """Of all questions, of each kind, and of those before and after the `fitted` first ones."""
    kinds: dict[str, list[ComparedQuestion]] = defaultdict(list)
    for each in sorted(worked, key=lambda each: each.question.kind):
        kinds[each.question.kind].append(each)
    groups: dict[str, Sequence[ComparedQuestion]] = {"all": worked, **kinds}
    if fitted:
        groups |= {"weights fitted on": worked[:fitted], "held out": worked[fitted:]}
    return [_of_group(name, group) for name, group in groups.items() if group]


def _of_group(name: str, group: Sequence[ComparedQuestion]) -> CitationFigures:
    seconds = [each.job.seconds or 0.0 for each in group]
    marks = sum(each.marks for each in group)
    opened = sum(each.open_citations for each in group)
    return CitationFigures(
        group=name,
        questions=len(group),
        comparisons=_comparisons(group),
        exact_match=_share([is_exact_match(each.answer, each.question.answers) for each in group]),
        f1=_share([best_f1(each.answer, each.question.answers) for each in group]),
        done=_share([each.job.status == JobStatus.DONE for each in group]),
        failed=_share([each.job.status == JobStatus.FAILED for each in group]),
        reasons=dict(Counter(_reason(each) for each in group).most_common()),
        replans_per_job=statistics.fmean(each.job.replans for each in group),
        seconds_median=statistics.median(seconds),
        seconds_mean=statistics.fmean(seconds),
        passages_cited=statistics.fmean(len(each.ours.passages) for each in group),
        passages_cited_by_keyword=statistics.fmean(len(each.keyword.passages) for each in group),
        citations=marks,
        citations_that_open=100 * opened / marks if marks else 0.0,
        confidence=confidence_figures([each.rated for each in group if each.rated is not None]),
    )


def _reason(worked: ComparedQuestion) -> StopReason | str:
    return worked.job.stop_reason or "not ended in time"


def _comparisons(group: Sequence[ComparedQuestion]) -> tuple[MeasureComparison, ...]:
    open_ended = [each for each in group if not each.question.is_yes_or_no]
    return (
        _compared("answer in a cited passage", group, holds_answer),
        _compared("the same, without yes/no questions", open_ended, holds_answer),
        _compared("all gold paragraphs cited", group, cites_all_gold),
    )


def _compared(measure: str, group: Sequence[ComparedQuestion], is_met: _Side) -> MeasureComparison:
    ours = [float(is_met(each.question, each.ours)) for each in group]
    keyword = [float(is_met(each.question, each.keyword)) for each in group]
    points = [100 * (one - other) for one, other in zip(ours, keyword, strict=True)]
    return MeasureComparison(
        measure, len(group), _share(ours), _share(keyword), bootstrap_interval(points)
    )


def holds_answer(question: EvaluationQuestion, cited: CitedPassages) -> bool:
    """True if an answer's text stands in the text of one cited passage."""
    return is_in_passages(question.answers, (each.text for each in cited.passages))


def cites_all_gold(question: EvaluationQuestion, cited: CitedPassages) -> bool:
    """True if every paragraph that the answer needs is cited."""
    return question.gold <= cited.addresses


def _share(values: Sequence[float]) -> float:
    return 100 * statistics.fmean(values) if values else 0.0
