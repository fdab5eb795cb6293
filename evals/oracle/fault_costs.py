"""Compute what deviations cost under each preset: the tokens of the roles for deviations, and
everything else they add.

Task-Decoupled Planning (docs/method.md) compares its output tokens with those of a planner of the
whole plan. Every question runs twice, without faults and with one fault in each of its parts; the
difference is the cost of the deviations, whichever role wrote the tokens (TDP-08).
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from pydantic import JsonValue

from holdfast.evals.presets.comparison_summary import (
    PresetFigures,
    check_same_questions,
    preset_figures,
)
from holdfast.evals.presets.run_records import QuestionRun
from holdfast.models.frozen_model import Frozen
from holdfast.planning.budget.role_phases import DEVIATION_ROLES

PRESETS = ("full-horizon", "single-step", "tdp", "research")
WHOLE_PLAN_PRESET = "full-horizon"
"""Replans all that remains of the whole plan: what the others are compared with."""

SETTINGS: Mapping[str, JsonValue] = {
    # The same in all arms: plans are compared, what a tool says is taken as it is, and no limit is
    # in the way.
    "begins_with": "plan",
    "agent_method": "steps",
    "extraction": False,
    "confidence_threshold": "none",
    "check_sentences": False,
    "max_tool_calls": 1000,
    "max_agent_calls": 1000,
    "max_consecutive_calls": 1000,
    "max_identical_calls": "none",
    "max_agent_steps": 60,
    "max_steps": 1000,
    "max_replans": 1000,
    "max_replans_per_task": 100,
    "max_revisions": 100,
}


class FaultCost(Frozen):
    """One preset over questions with faults; amounts are per question."""

    preset: str
    questions: int
    right: float
    """Jobs of both runs that ended as done with the exact answer, in percent; below 100 the
    amounts say nothing."""
    model_calls: float
    tool_calls: float
    replans: float
    input_tokens: float
    output_tokens: float
    deviation_output: Mapping[str, float]
    """What the roles for deviations wrote, by role."""
    added_calls: float
    """Model calls more than the same questions took without faults."""
    added_input: float
    added_output: float
    added_against_global: float | None
    """The change of `added_output` from replanning the whole plan, in percent."""


def preset_fault_costs(
    clean: Sequence[QuestionRun], faulty: Sequence[QuestionRun]
) -> list[FaultCost]:
    """What faults cost each preset, from the same questions without and with them.

    Raises:
        BadInput: the presets, or the two runs, did not answer the same questions.
    """
    before, after = (
        {each.preset: each for each in preset_figures(runs)} for runs in (clean, faulty)
    )
    for name in after:
        without, with_ = ([r for r in runs if r.preset == name] for runs in (clean, faulty))
        check_same_questions({f"{name} without faults": without, f"{name} with faults": with_})
    added = {name: each.output_tokens - before[name].output_tokens for name, each in after.items()}
    every = [*clean, *faulty]
    right = {
        name: 100 * fmean(is_right_run(r) for r in every if r.preset == name) for name in after
    }
    return [_economy(before[name], each, added, right[name]) for name, each in after.items()]


def is_right_run(run: QuestionRun) -> bool:
    """Whether the job came to its end, report and all, and its answer is the gold one."""
    return run.exact and run.status == "done"


def _economy(
    before: PresetFigures, after: PresetFigures, added: Mapping[str, float], right: float
) -> FaultCost:
    whole = added.get(WHOLE_PLAN_PRESET)
    mine = added[after.preset]
    return FaultCost(
        preset=after.preset,
        questions=after.questions,
        right=right,
        model_calls=after.model_calls,
        tool_calls=after.tool_calls,
        replans=after.replans,
        input_tokens=after.input_tokens,
        output_tokens=after.output_tokens,
        deviation_output={
            role: after.roles[role].output_tokens / after.questions
            for role in DEVIATION_ROLES
            if role in after.roles
        },
        added_calls=after.model_calls - before.model_calls,
        added_input=after.input_tokens - before.input_tokens,
        added_output=mine,
        added_against_global=100 * (mine / whole - 1) if whole else None,
    )


_HEADINGS = ("right", "calls", "tools", "replans", "in", "out", "+calls", "+in", "+out", "change")


def fault_cost_lines(found: Sequence[FaultCost]) -> Iterator[str]:
    """The table, and what was written on deviations by role."""
    yield f"{'preset':14}{'n':>4}" + "".join(f"{name:>10}" for name in _HEADINGS)
    for each in found:
        yield f"{each.preset:14}{each.questions:4}" + "".join(f"{c:>10}" for c in _cells(each))
    yield "+ is what one fault in each part added; change: +out against replanning the whole plan"
    for each in found:
        roles = ", ".join(f"{role} {out:,.0f}" for role, out in each.deviation_output.items())
        total = sum(each.deviation_output.values())
        yield f"{each.preset}: {total:,.0f} tokens out by roles for deviations ({roles or 'none'})"


def _cells(each: FaultCost) -> tuple[str, ...]:
    change = each.added_against_global
    return (
        f"{each.right:.1f}",
        f"{each.model_calls:.1f}",
        f"{each.tool_calls:.1f}",
        f"{each.replans:.2f}",
        f"{each.input_tokens:,.0f}",
        f"{each.output_tokens:,.0f}",
        f"{each.added_calls:+.1f}",
        f"{each.added_input:+,.0f}",
        f"{each.added_output:+,.0f}",
        "-" if change is None else f"{change:+.1f}%",
    )
