"""Compute and print the figures of scored reports."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from holdfast.evals.open_reports.open_runs import ReportScore
from holdfast.evals.open_reports.report_judge import JudgedReport, agreement
from holdfast.models.frozen_model import Frozen


class OpenFigures(Frozen):
    """One arm over its scored questions; None where there was nothing to judge or to count."""

    arm: str
    questions: int
    delivered: float
    """Questions with a report, in percent."""
    completeness: float | None
    source_quality: float | None
    """Means of 1 to 5; a question without a report has 1 in both."""
    rubric: float | None
    support: float | None
    """In percent; a question without a report meets none of its rubric."""
    dimensions: dict[str, float]
    agreement: float | None
    """Verdicts of the judge that are the same in two rounds, in percent."""
    cited: float | None
    opened: float | None
    verbatim: float | None
    supported: float | None
    """Of all sentences, citations, citations, cited sentences: in percent."""
    sources_a_claim: float | None
    blocked: int
    exact_match: float
    tokens: float
    """Of job and judge, a question."""


def open_figures(scores: Sequence[ReportScore]) -> list[OpenFigures]:
    """The figures of each arm."""
    arms = dict.fromkeys(each.arm for each in scores)
    return [_of_arm(arm, [each for each in scores if each.arm == arm]) for arm in arms]


def _of_arm(arm: str, scores: Sequence[ReportScore]) -> OpenFigures:
    rules = [each.rules for each in scores if each.rules is not None]
    is_judged = any(each.judge for each in scores)
    rounds = [one for each in scores for one in each.rounds]
    agreed = [found for each in scores if (found := agreement(each.rounds)) is not None]
    names = dict.fromkeys(name for one in rounds for name in one.dimensions)
    count = {
        name: sum(getattr(each, name) for each in rules)
        for name in (
            "sentences",
            "cited_sentences",
            "citations",
            "opened",
            "verbatim",
            "supported",
            "sources",
            "blocked",
        )
    }
    return OpenFigures(
        arm=arm,
        questions=len(scores),
        delivered=100 * len(rules) / len(scores),
        completeness=_marks(scores, "completeness") if is_judged else None,
        source_quality=_marks(scores, "source_quality") if is_judged else None,
        rubric=_rubric(scores),
        support=_mean([100 * one.support for one in rounds if one.support is not None]),
        dimensions={
            name: 100 * fmean(one.dimensions[name] for one in rounds if name in one.dimensions)
            for name in names
        },
        agreement=100 * fmean(agreed) if agreed else None,
        cited=_percent(count["cited_sentences"], count["sentences"]),
        opened=_percent(count["opened"], count["citations"]),
        verbatim=_percent(count["verbatim"], count["citations"]),
        supported=_percent(count["supported"], count["cited_sentences"]),
        sources_a_claim=(
            count["sources"] / count["cited_sentences"] if count["cited_sentences"] else None
        ),
        blocked=count["blocked"],
        exact_match=100 * fmean(each.run.exact for each in scores),
        tokens=fmean(each.tokens for each in scores),
    )


def _marks(scores: Sequence[ReportScore], name: str) -> float:
    return fmean(
        fmean(getattr(one, name) for one in each.rounds) if each.rounds else 1.0 for each in scores
    )


def _rubric(scores: Sequence[ReportScore]) -> float | None:
    if not any(one.rubric is not None for each in scores for one in each.rounds):
        return None
    return 100 * fmean(_met(each.rounds) for each in scores)


def _met(rounds: Sequence[JudgedReport]) -> float:
    return fmean(one.rubric or 0.0 for one in rounds) if rounds else 0.0


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _percent(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


_ROWS: tuple[tuple[str, str, str], ...] = (
    ("questions", "questions", "{:d}"),
    ("delivered", "with a report", "{:.0f}%"),
    ("completeness", "completeness, 1 to 5 (judge)", "{:.2f}"),
    ("source_quality", "source quality, 1 to 5 (judge)", "{:.2f}"),
    ("rubric", "rubric met (judge)", "{:.1f}%"),
    ("support", "claims that their quotes show (judge)", "{:.1f}%"),
    ("agreement", "the judge agrees with itself", "{:.1f}%"),
    ("cited", "sentences with a citation", "{:.1f}%"),
    ("opened", "citations that open", "{:.1f}%"),
    ("verbatim", "quotes letter by letter", "{:.1f}%"),
    ("supported", "numbers and names in cited passages", "{:.1f}%"),
    ("sources_a_claim", "sources a claim", "{:.2f}"),
    ("blocked", "citations of forbidden sources", "{:d}"),
    ("exact_match", "exact match, where there is a short answer", "{:.1f}%"),
    ("tokens", "tokens a question, judge included", "{:,.0f}"),
)


def open_lines(found: Sequence[OpenFigures]) -> Iterator[str]:
    """The table: a measure a line, an arm a column."""
    yield f"{'':44}" + "".join(f"{each.arm:>22}" for each in found)
    for name, title, form in _ROWS:
        values = [getattr(each, name) for each in found]
        cells = ("not measured" if value is None else form.format(value) for value in values)
        yield f"{title:44}" + "".join(f"{cell:>22}" for cell in cells)
    for each in found:
        if each.dimensions:
            listed = ", ".join(f"{name} {share:.1f}%" for name, share in each.dimensions.items())
            yield f"{each.arm}, rubric by dimension: {listed}"
