"""What deviations cost under each preset: what the roles for them write, and all that they add.

Task-Decoupled Planning (seed 002) counts output tokens beside a planner of the whole plan. Every
question is worked twice, without faults and with one in each of its parts: the difference is what
the deviations added, whoever wrote it (TDP-08).
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from pydantic import JsonValue

from evals.records import Run
from evals.summary import Figures, check_same_questions, figures
from models.base import Frozen
from planning.phases import DEVIATION_ROLES

PRESETS = ("full-horizon", "single-step", "tdp", "research")
GLOBAL = "full-horizon"
"""Replans all that remains of the whole plan: what the others are compared with."""

SETTINGS: Mapping[str, JsonValue] = {
    # The same in all arms: what a tool says is taken as it is, and no limit is in the way.
    "extraction": False,
    "confidence_threshold": "none",
    "check_sentences": False,
    "max_tool_calls": 1000,
    "max_agent_calls": 1000,
    "max_consecutive_calls": 1000,
    "max_identical_calls": "none",
    "max_node_steps": 60,
    "max_steps": 1000,
    "max_replans": 1000,
    "max_replans_per_task": 100,
    "max_revisions": 100,
}


class Economy(Frozen):
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
    added_beside_global: float | None
    """The change of `added_output` beside replanning the whole plan, in percent."""


def economies(clean: Sequence[Run], faulty: Sequence[Run]) -> list[Economy]:
    """What faults cost each preset, from the same questions without and with them.

    Raises:
        BadInput: the presets, or the two runs, did not answer the same questions.
    """
    before, after = ({each.preset: each for each in figures(runs)} for runs in (clean, faulty))
    for name in after:
        without, with_ = ([r for r in runs if r.preset == name] for runs in (clean, faulty))
        check_same_questions({f"{name} without faults": without, f"{name} with faults": with_})
    added = {name: each.output_tokens - before[name].output_tokens for name, each in after.items()}
    every = [*clean, *faulty]
    right = {name: 100 * fmean(is_right(r) for r in every if r.preset == name) for name in after}
    return [_economy(before[name], each, added, right[name]) for name, each in after.items()]


def is_right(run: Run) -> bool:
    """Whether the job came to its end, report and all, and its answer is the gold one."""
    return run.exact and run.status == "done"


def _economy(before: Figures, after: Figures, added: Mapping[str, float], right: float) -> Economy:
    beside = added.get(GLOBAL)
    mine = added[after.preset]
    return Economy(
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
        added_beside_global=100 * (mine / beside - 1) if beside else None,
    )


_HEADINGS = ("right", "calls", "tools", "replans", "in", "out", "+calls", "+in", "+out", "beside")


def economy_lines(found: Sequence[Economy]) -> Iterator[str]:
    """The table, and what was written on deviations by role."""
    yield f"{'preset':14}{'n':>4}" + "".join(f"{name:>10}" for name in _HEADINGS)
    for each in found:
        yield f"{each.preset:14}{each.questions:4}" + "".join(f"{c:>10}" for c in _cells(each))
    yield "+ is what one fault in each part added; beside: +out, beside replanning the whole plan"
    for each in found:
        roles = ", ".join(f"{role} {out:,.0f}" for role, out in each.deviation_output.items())
        total = sum(each.deviation_output.values())
        yield f"{each.preset}: {total:,.0f} tokens out by roles for deviations ({roles or 'none'})"


def _cells(each: Economy) -> tuple[str, ...]:
    beside = each.added_beside_global
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
        "-" if beside is None else f"{beside:+.1f}%",
    )
