"""From the lines of a comparison to its figures: per preset, and presets beside each other."""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from evals.judging import NOT_JUDGED
from evals.records import Run, Spent
from models.base import Frozen
from models.errors import BadInput

FULL, STEP = "full-horizon", "single-step"
RECOVERED = ("0", "1", "2", "3", "more")


class Figures(Frozen):
    """One preset's figures; shares in percent, the rest per question."""

    preset: str
    questions: int
    exact_match: float
    f1: float
    answered: float
    f1_of_answered: float
    in_report: float
    """Reports in which, or in whose quotes, a right answer stands."""
    verdicts: Mapping[str, int]
    model_calls: float
    tool_calls: float
    input_tokens: float
    output_tokens: float
    roles: Mapping[str, Spent]
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


class Ratio(Frozen):
    """What one preset takes of tokens beside another, over the same questions."""

    of: str
    to: str
    questions: int
    input_tokens: float | None
    output_tokens: float | None
    model_calls: float | None


def figures(runs: Iterable[Run]) -> list[Figures]:
    """The figures of each preset, in the order of the first line.

    Raises:
        BadInput: the presets did not answer the same questions.
    """
    by_preset: dict[str, list[Run]] = {}
    for run in runs:
        by_preset.setdefault(run.preset, []).append(run)
    check_same_questions(by_preset)
    return [_of_preset(name, group) for name, group in by_preset.items()]


def check_same_questions(by_preset: Mapping[str, Sequence[Run]]) -> None:
    """Refuse to compare what answered different questions.

    Raises:
        BadInput: names the presets, and how many questions only one of them has.
    """
    asked = {
        name: {(r.question, r.question_hash) for r in runs} for name, runs in by_preset.items()
    }
    for name, these in asked.items():
        for other, those in asked.items():
            if these - those:
                raise BadInput(
                    f"presets {name!r} and {other!r} cannot be compared: {len(these - those)} "
                    f"questions of {name!r} were not asked under {other!r}; run it again to go on"
                )


def _of_preset(name: str, runs: Sequence[Run]) -> Figures:
    answered = [run for run in runs if run.is_answered]
    return Figures(
        preset=name,
        questions=len(runs),
        exact_match=_share(runs, lambda run: run.exact),
        f1=100 * _mean(run.f1 for run in runs),
        answered=_share(runs, lambda run: run.is_answered),
        f1_of_answered=100 * _mean(run.f1 for run in answered),
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


def _recovered(answered: Sequence[Run]) -> dict[str, int]:
    counts = Counter(RECOVERED[min(run.replans, len(RECOVERED) - 1)] for run in answered)
    return {name: counts[name] for name in RECOVERED}


def ratio(runs: Iterable[Run], of: str = STEP, to: str = FULL) -> Ratio | None:
    """What one preset takes beside the other; none where one of them was not run (HZN-09)."""
    kept = list(runs)
    one, other = ([run for run in kept if run.preset == name] for name in (of, to))
    if not one or not other:
        return None
    check_same_questions({of: one, to: other})
    return Ratio(
        of=of, to=to, questions=len(one),
        input_tokens=_over(one, other, lambda run: run.input_tokens),
        output_tokens=_over(one, other, lambda run: run.output_tokens),
        model_calls=_over(one, other, lambda run: run.model_calls),
    )  # fmt: skip


def _over(one: Sequence[Run], other: Sequence[Run], of: Callable[[Run], int]) -> float | None:
    """The quotient of the sums; none where nothing was counted."""
    below = sum(of(run) for run in other)
    return sum(of(run) for run in one) / below if below else None


def _by_role(runs: Sequence[Run]) -> dict[str, Spent]:
    names = sorted({name for run in runs for name in run.roles})
    return {name: _total(run.roles[name] for run in runs if name in run.roles) for name in names}


def _total(spent: Iterable[Spent]) -> Spent:
    each = list(spent)
    return Spent(
        calls=sum(one.calls for one in each),
        input_tokens=sum(one.input_tokens for one in each),
        output_tokens=sum(one.output_tokens for one in each),
    )


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total.most_common())


def _share(runs: Sequence[Run], is_so: Callable[[Run], bool]) -> float:
    return 100 * _mean(float(is_so(run)) for run in runs)


def _mean(values: Iterable[float]) -> float:
    every = list(values)
    return statistics.fmean(every) if every else 0.0
