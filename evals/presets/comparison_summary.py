"""Compute the figures of each preset from the lines of a comparison, and the token ratio of two
presets."""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from holdfast.evals.measures.confidence_figures import ConfidenceFigures, confidence_figures
from holdfast.evals.presets.answer_judge import NOT_JUDGED
from holdfast.evals.presets.run_records import QuestionRun, RoleUsage
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen

FULL_HORIZON, SINGLE_STEP = "full-horizon", "single-step"
RECOVERED = ("0", "1", "2", "3", "more")


_DEVIATING = ("exact_match", "f1", "answered", "input_tokens", "output_tokens", "model_calls")


class FigureBin(Frozen):
    """The runs of an arm whose questions share a kind, or whose plans share a depth or breadth."""

    by: str
    value: str
    runs: int
    exact_match: float
    f1: float
    answered: float
    tokens: float
    """Input and output tokens a question."""


class PresetFigures(Frozen):
    """One preset's figures; shares in percent, the rest per question."""

    preset: str
    """The name of the arm."""
    questions: int
    repeats: int
    """Runs of each question; figures are means over all of them."""
    deviation: Mapping[str, float]
    """Standard deviation of some figures over the repeats; empty with one."""
    tokens_a_right_answer: float | None
    """Input and output tokens of all questions by the right answers; None without one."""
    bins: tuple[FigureBin, ...]
    exact_match: float
    f1: float
    answered: float
    f1_of_answered: float
    confidence: ConfidenceFigures | None
    """How reliable the confidences are that the reports state."""
    in_report: float
    """Reports in which, or in whose quotes, a right answer stands."""
    verdicts: Mapping[str, int]
    model_calls: float
    tool_calls: float
    input_tokens: float
    output_tokens: float
    roles: Mapping[str, RoleUsage]
    """Of all questions together."""
    depth: float
    breadth: float
    with_repeats: float
    """Questions with at least one repeated call."""
    repeated_calls: int
    failures: Mapping[str, int]
    replans: float
    answered_after: Mapping[str, int]
    """Answered questions by the replans they took."""
    reasons: Mapping[str, int]
    seconds_median: float


class TokenRatio(Frozen):
    """What one preset takes of tokens compared with another, over the same questions."""

    of: str
    to: str
    questions: int
    input_tokens: float | None
    output_tokens: float | None
    model_calls: float | None


def preset_figures(runs: Iterable[QuestionRun]) -> list[PresetFigures]:
    """The figures of each preset, in the order of the first line.

    Raises:
        BadInput: the presets did not answer the same questions.
    """
    by_preset: dict[str, list[QuestionRun]] = {}
    for run in runs:
        by_preset.setdefault(run.arm, []).append(run)
    check_same_questions(by_preset)
    return [_of_preset(name, group) for name, group in by_preset.items()]


def check_same_questions(by_preset: Mapping[str, Sequence[QuestionRun]]) -> None:
    """Refuse to compare what answered different questions.

    Raises:
        BadInput: names the presets, and how many questions only one of them has.
    """
    asked = {
        name: {(r.question, r.question_hash, r.repeat) for r in runs}
        for name, runs in by_preset.items()
    }
    for name, these in asked.items():
        for other, those in asked.items():
            if missing := {question for question, *_ in these - those}:
                raise BadInput(
                    f"presets {name!r} and {other!r} cannot be compared: {len(missing)} "
                    f"questions of {name!r} were not asked under {other!r}; run it again to go on"
                )


def _of_preset(name: str, runs: Sequence[QuestionRun]) -> PresetFigures:
    answered = [run for run in runs if run.is_answered]
    right = sum(run.exact for run in runs)
    return PresetFigures(
        preset=name,
        questions=len({run.question for run in runs}),
        repeats=max(run.repeat for run in runs),
        deviation=_deviation(name, runs),
        tokens_a_right_answer=sum(map(_tokens, runs)) / right if right else None,
        bins=tuple(_bins(runs)),
        exact_match=_share(runs, lambda run: run.exact),
        f1=100 * _mean(run.f1 for run in runs),
        answered=_share(runs, lambda run: run.is_answered),
        f1_of_answered=100 * _mean(run.f1 for run in answered),
        confidence=confidence_figures([run.rated for run in runs if run.rated is not None]),
        in_report=_share(runs, lambda run: run.in_report),
        verdicts=dict(Counter(run.verdict or NOT_JUDGED for run in runs).most_common()),
        model_calls=_mean(run.model_calls for run in runs),
        tool_calls=_mean(run.tool_calls for run in runs),
        input_tokens=_mean(run.input_tokens for run in runs),
        output_tokens=_mean(run.output_tokens for run in runs),
        roles=_by_role(runs),
        depth=_mean(run.depth for run in runs),
        breadth=_mean(run.breadth for run in runs),
        with_repeats=_share(runs, lambda run: run.repeated_calls > 0),
        repeated_calls=sum(run.repeated_calls for run in runs),
        failures=_summed(run.failures for run in runs),
        replans=_mean(run.replans for run in runs),
        answered_after=_recovered(answered),
        reasons=dict(Counter(run.stop_reason or run.status for run in runs).most_common()),
        seconds_median=statistics.median(run.seconds for run in runs),
    )


def _deviation(name: str, runs: Sequence[QuestionRun]) -> dict[str, float]:
    """Return the sample's standard deviation of the repeats' figures."""
    numbers = sorted({run.repeat for run in runs})
    if len(numbers) < 2:
        return {}
    each = [
        _of_preset(name, [run.model_copy(update={"repeat": 1}) for run in runs if run.repeat == n])
        for n in numbers
    ]
    return {
        field: statistics.stdev(getattr(figures, field) for figures in each) for field in _DEVIATING
    }


def _bins(runs: Sequence[QuestionRun]) -> Iterable[FigureBin]:
    """Yield the bins that divide the runs; none by what all runs share."""
    ways: Mapping[str, Callable[[QuestionRun], str]] = {
        "kind": lambda run: run.kind,
        "depth": lambda run: str(run.depth) if run.depth < 4 else "4 or more",
        "breadth": lambda run: (
            "1" if run.breadth <= 1 else "to 2" if run.breadth <= 2 else "over 2"
        ),
    }
    for by, way in ways.items():
        groups: dict[str, list[QuestionRun]] = {}
        for run in runs:
            groups.setdefault(way(run), []).append(run)
        if len(groups) > 1:
            yield from (_bin(by, value, groups[value]) for value in sorted(groups))


def _bin(by: str, value: str, runs: Sequence[QuestionRun]) -> FigureBin:
    return FigureBin(
        by=by,
        value=value,
        runs=len(runs),
        exact_match=_share(runs, lambda run: run.exact),
        f1=100 * _mean(run.f1 for run in runs),
        answered=_share(runs, lambda run: run.is_answered),
        tokens=_mean(map(_tokens, runs)),
    )


def _tokens(run: QuestionRun) -> int:
    return run.input_tokens + run.output_tokens


def _recovered(answered: Sequence[QuestionRun]) -> dict[str, int]:
    counts = Counter(RECOVERED[min(run.replans, len(RECOVERED) - 1)] for run in answered)
    return {name: counts[name] for name in RECOVERED}


def token_ratio(
    runs: Iterable[QuestionRun], of: str = SINGLE_STEP, to: str = FULL_HORIZON
) -> TokenRatio | None:
    """What one preset takes compared with the other; None if one of them was not run (HZN-09)."""
    kept = list(runs)
    one, other = ([run for run in kept if run.arm == name] for name in (of, to))
    if not one or not other:
        return None
    check_same_questions({of: one, to: other})
    return TokenRatio(
        of=of,
        to=to,
        questions=len(one),
        input_tokens=_over(one, other, lambda run: run.input_tokens),
        output_tokens=_over(one, other, lambda run: run.output_tokens),
        model_calls=_over(one, other, lambda run: run.model_calls),
    )


def _over(
    one: Sequence[QuestionRun], other: Sequence[QuestionRun], of: Callable[[QuestionRun], int]
) -> float | None:
    """The quotient of the sums; none where nothing was counted."""
    below = sum(of(run) for run in other)
    return sum(of(run) for run in one) / below if below else None


def _by_role(runs: Sequence[QuestionRun]) -> dict[str, RoleUsage]:
    names = sorted({name for run in runs for name in run.roles})
    return {name: _total(run.roles[name] for run in runs if name in run.roles) for name in names}


def _total(spent: Iterable[RoleUsage]) -> RoleUsage:
    each = list(spent)
    return RoleUsage(
        calls=sum(one.calls for one in each),
        input_tokens=sum(one.input_tokens for one in each),
        output_tokens=sum(one.output_tokens for one in each),
    )


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total.most_common())


def _share(runs: Sequence[QuestionRun], is_so: Callable[[QuestionRun], bool]) -> float:
    return 100 * _mean(float(is_so(run)) for run in runs)


def _mean(values: Iterable[float]) -> float:
    every = list(values)
    return statistics.fmean(every) if every else 0.0
