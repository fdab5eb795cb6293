"""Compute and print the figures of the coordination benchmark."""

from collections.abc import Iterator, Sequence

from holdfast.evals.coordination.coordination_cases import CoordinationCase
from holdfast.evals.coordination.coordination_runs import COORDINATED, CoordinationRuns
from holdfast.evals.coordination.scripted_team import PromptSightings
from holdfast.evals.measures.answer_metrics import Interval, bootstrap_interval
from holdfast.evals.presets.run_records import QuestionRun
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen

LEAST_CASES = 5
"""From fewer cases an interval says nothing: of one case it is the point itself."""
PRACTICAL_POINTS = 5.0
"""A smaller difference is not worth a claim."""


class ArmFigures(Frozen):
    """One arm over all cases; amounts are per case."""

    arm: str
    cases: int
    right: int
    model_calls: float
    tool_calls: float
    input_tokens: float
    output_tokens: float


class ArmDifference(Frozen):
    """The coordinated arm against another one, in points of right cases, case by case."""

    against: str
    pattern: str
    """Empty: of all patterns together."""
    cases: int
    points: float
    low: float | None
    high: float | None
    """The 95% interval; None where there are too few cases for one."""
    claim: str


class CaseOutcome(Frozen):
    """What the arms answered in one case."""

    case: str
    pattern: str
    shows: str
    right: str
    answers: dict[str, str]
    correct: dict[str, bool]


class CoordinationFigures(Frozen):
    """All figures of a run."""

    comparison: str
    cases: tuple[CaseOutcome, ...]
    arms: tuple[ArmFigures, ...]
    differences: tuple[ArmDifference, ...]
    invalid: tuple[str, ...]
    """Jobs that did not end as done: their cases say nothing, and are left out."""
    prompts: int
    missing: tuple[str, ...]
    leaked: tuple[str, ...]


def coordination_figures(
    cases: Sequence[CoordinationCase], found: CoordinationRuns
) -> CoordinationFigures:
    """The figures; a case counts only if its jobs came to their end under every arm.

    Raises:
        BadInput: no case came to its end.
    """
    failed = [run for run in found.runs if run.status != "done"]
    spoilt = {run.question for run in failed}
    names = list(dict.fromkeys(run.arm for run in found.runs))
    by_arm = {
        name: {r.question: r for r in found.runs if r.arm == name and r.question not in spoilt}
        for name in names
    }
    valid = [case for case in cases if case.id in by_arm[names[0]]]
    if not valid:
        raise BadInput(f"no case came to its end: {failed[0].message or failed[0].stop_reason}")
    seen: PromptSightings = found.sightings
    return CoordinationFigures(
        comparison=found.comparison,
        cases=tuple(_outcome(case, by_arm) for case in valid),
        arms=tuple(_arm(name, list(runs.values())) for name, runs in by_arm.items()),
        differences=tuple(_differences(valid, by_arm)),
        invalid=tuple(f"{r.question} under {r.arm}: {r.stop_reason} {r.message}" for r in failed),
        prompts=seen.prompts,
        missing=tuple(seen.missing),
        leaked=tuple(seen.leaked),
    )


def _outcome(case: CoordinationCase, by_arm: dict[str, dict[str, QuestionRun]]) -> CaseOutcome:
    return CaseOutcome(
        case=case.id,
        pattern=case.pattern,
        shows=case.shows,
        right=case.right,
        answers={name: runs[case.id].answer for name, runs in by_arm.items()},
        correct={name: runs[case.id].exact for name, runs in by_arm.items()},
    )


def _arm(name: str, runs: Sequence[QuestionRun]) -> ArmFigures:
    count = len(runs)
    return ArmFigures(
        arm=name,
        cases=count,
        right=sum(run.exact for run in runs),
        model_calls=sum(run.model_calls for run in runs) / count,
        tool_calls=sum(run.tool_calls for run in runs) / count,
        input_tokens=sum(run.input_tokens for run in runs) / count,
        output_tokens=sum(run.output_tokens for run in runs) / count,
    )


def _differences(
    cases: Sequence[CoordinationCase], by_arm: dict[str, dict[str, QuestionRun]]
) -> Iterator[ArmDifference]:
    patterns = ["", *dict.fromkeys(case.pattern for case in cases)]
    for name in by_arm:
        if name == COORDINATED:
            continue
        for pattern in patterns:
            ids = [case.id for case in cases if pattern in ("", case.pattern)]
            points = [
                100.0 * (by_arm[COORDINATED][each].exact - by_arm[name][each].exact) for each in ids
            ]
            yield difference_of(name, pattern, points)


def difference_of(against: str, pattern: str, points: Sequence[float]) -> ArmDifference:
    """A difference with what may be claimed from it; never anything from too few cases."""
    interval: Interval = bootstrap_interval(points)
    few = len(points) < LEAST_CASES
    if few:
        claim = f"none: fewer than {LEAST_CASES} cases"
    elif interval.low > 0 and interval.mean >= PRACTICAL_POINTS:
        claim = "better"
    elif interval.high < 0 and interval.mean <= -PRACTICAL_POINTS:
        claim = "worse"
    elif interval.low <= 0 <= interval.high:
        claim = "none: the interval holds 0"
    else:
        claim = "none: too small to matter"
    return ArmDifference(
        against=against,
        pattern=pattern,
        cases=len(points),
        points=interval.mean,
        low=None if few else interval.low,
        high=None if few else interval.high,
        claim=claim,
    )


def coordination_lines(found: CoordinationFigures) -> Iterator[str]:
    """The tables for a terminal."""
    arms = [each.arm for each in found.arms]
    yield f"{'pattern':22}" + "".join(f"{name:>24}" for name in arms)
    for case in found.cases:
        cells = (
            "right" if case.correct[name] else f"says {case.answers[name]}"[:22] for name in arms
        )
        yield f"{case.pattern:22}" + "".join(f"{cell:>24}" for cell in cells)
    yield ""
    yield f"{'arm':24}{'right':>8}{'calls':>8}{'tools':>8}{'in':>10}{'out':>8}"
    for each in found.arms:
        yield (
            f"{each.arm:24}{f'{each.right} of {each.cases}':>8}{each.model_calls:>8.1f}"
            f"{each.tool_calls:>8.1f}{each.input_tokens:>10,.0f}{each.output_tokens:>8,.0f}"
        )
    yield ""
    for diff in found.differences:
        if diff.pattern:
            continue
        between = "" if diff.low is None else f" ({diff.low:+.1f} to {diff.high:+.1f})"
        yield (
            f"{COORDINATED} against {diff.against}: {diff.points:+.1f} points{between}, "
            f"n = {diff.cases}; claim: {diff.claim}"
        )
    patterns = sum(1 for each in found.differences if each.pattern and each.low is None)
    yield f"{patterns} differences by pattern, each with fewer than {LEAST_CASES} cases: no claim"
    yield (
        f"{found.prompts} first prompts of agents: {len(found.missing)} lacked a fact that they "
        f"depend on, {len(found.leaked)} showed a fact of another part"
    )
    for each_invalid in found.invalid:
        yield f"not valid, left out: {each_invalid}"
    yield f"comparison {found.comparison}"
