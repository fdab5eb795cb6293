"""Format a job, and what its stages spent, as a few lines of text."""

from collections.abc import Iterable, Iterator

from holdfast.cli.render.amount_text import comparison_lines, format_seconds
from holdfast.cli.render.recovery_lines import recovery_lines
from holdfast.cli.render.terminal_output import count_with_noun, shortened_line
from holdfast.jobs.record_in_words import state_with_ending
from holdfast.models.budget.job_stages import Stage
from holdfast.models.budget.money_text import format_money
from holdfast.models.views.job_views import JobView

_MAX_WHY = 200


def job_lines(view: JobView) -> list[str]:
    """The job in a few lines."""
    seconds = "" if view.seconds is None else f" in {view.seconds:.1f} s"
    state = state_with_ending(view.status, view.stop_reason)
    lines = [
        f"{view.job_id}  {state}{seconds}  preset {view.preset}, model {view.model}",
        f"question: {shortened_line(view.question, 300)}",
    ]
    if view.answer:
        lines.append(f"answer:   {shortened_line(view.answer, 300)}")
    if view.message:
        lines.append(f"message:  {shortened_line(view.message, 600)}")
    lines.append(f"spent:    {spending_text(view)}")
    lines += stage_lines(view.stages, view.currency)
    if view.estimate is not None:
        lines += comparison_lines(view.estimate, view.currency)
    if view.forked_from:
        lines.append(
            f"fork of:  {view.forked_from}; `holdfast compare {view.forked_from} {view.job_id}`"
        )
    if view.forks:
        lines.append(f"forks:    {', '.join(view.forks)}")
    for recovery in view.recoveries:
        lines += recovery_lines(recovery)
    if view.temporal.url:
        lines.append(f"temporal: {view.temporal.url}")
    return lines


def spending_text(view: JobView) -> str:
    """The job's calls, tokens, replans and cost."""
    return (
        f"{count_with_noun(view.calls.model, 'model call')}, "
        f"{count_with_noun(view.calls.tool, 'tool call')}, {view.tokens.input} tokens in, "
        f"{view.tokens.output} out, {count_with_noun(view.replans, 'replan')}, "
        f"cost {format_money(view.cost, view.currency)}"
    )


def stage_lines(stages: Iterable[Stage], currency: str) -> Iterator[str]:
    """Two lines for each stage: what it spent, and why it was needed."""
    for stage in stages:
        yield f"{'stage:':<9} {stage.name.in_words}: {_stage_text(stage, currency)}"
        yield f"{'':<9} {shortened_line(stage.why, _MAX_WHY)}"


def _stage_text(stage: Stage, currency: str) -> str:
    if not stage.model_calls and not stage.tool_calls:
        return "no calls"
    return (
        f"{count_with_noun(stage.model_calls, 'model call')}, "
        f"{count_with_noun(stage.tool_calls, 'tool call')}, {stage.input_tokens} tokens in, "
        f"{stage.output_tokens} out, cost {format_money(stage.cost, currency)}, "
        f"{format_seconds(stage.seconds)} in calls"
    )
