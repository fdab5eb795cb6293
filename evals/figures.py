"""From worked questions to figures, by group of questions."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from evals.baseline import Cited
from evals.engine import Worked
from evals.metrics import Interval, best_f1, bootstrap, exact, stands_in
from evals.questions import Question
from models.jobs import JobStatus, StopReason

AIM_POINTS = 10.0

_Side: TypeAlias = Callable[[Question, Cited], bool]


class Comparison(NamedTuple):
    """One measure on both sides, in percent of the questions; the difference in points."""

    measure: str
    questions: int
    ours: float
    keyword: float
    difference: Interval

    @property
    def meets_aim(self) -> bool:
        return self.difference.mean >= AIM_POINTS


class Figures(NamedTuple):
    """All figures of one group; shares in percent."""

    group: str
    questions: int
    comparisons: tuple[Comparison, ...]
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


def figures(worked: Sequence[Worked], fitted: int = 0) -> list[Figures]:
    """Of all questions, of each kind, and of those before and after the `fitted` first ones."""
    kinds: dict[str, list[Worked]] = defaultdict(list)
    for each in sorted(worked, key=lambda each: each.question.kind):
        kinds[each.question.kind].append(each)
    groups: dict[str, Sequence[Worked]] = {"all": worked, **kinds}
    if fitted:
        groups |= {"weights fitted on": worked[:fitted], "held out": worked[fitted:]}
    return [_of_group(name, group) for name, group in groups.items() if group]


def _of_group(name: str, group: Sequence[Worked]) -> Figures:
    seconds = [each.job.seconds or 0.0 for each in group]
    marks = sum(each.marks for each in group)
    opened = sum(each.open_marks for each in group)
    return Figures(
        group=name,
        questions=len(group),
        comparisons=_comparisons(group),
        exact_match=_share([exact(each.answer, each.question.answers) for each in group]),
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
    )


def _reason(worked: Worked) -> StopReason | str:
    return worked.job.stop_reason or "not ended in time"


def _comparisons(group: Sequence[Worked]) -> tuple[Comparison, ...]:
    open_ended = [each for each in group if not each.question.is_yes_or_no]
    return (
        _compared("answer in a cited passage", group, holds_answer),
        _compared("the same, without yes/no questions", open_ended, holds_answer),
        _compared("all gold paragraphs cited", group, cites_all_gold),
    )


def _compared(measure: str, group: Sequence[Worked], is_met: _Side) -> Comparison:
    ours = [float(is_met(each.question, each.ours)) for each in group]
    keyword = [float(is_met(each.question, each.keyword)) for each in group]
    points = [100 * (one - other) for one, other in zip(ours, keyword, strict=True)]
    return Comparison(measure, len(group), _share(ours), _share(keyword), bootstrap(points))


def holds_answer(question: Question, cited: Cited) -> bool:
    """Whether an answer's text stands in the text of one cited passage."""
    return stands_in(question.answers, (each.text for each in cited.passages))


def cites_all_gold(question: Question, cited: Cited) -> bool:
    """Whether every paragraph that the answer needs is cited."""
    return question.gold <= cited.addresses


def _share(values: Sequence[float]) -> float:
    return 100 * statistics.fmean(values) if values else 0.0
