"""Format a job as a few lines of text."""

from holdfast.cli.render.amount_text import comparison_lines, format_money
from holdfast.cli.render.recovery_lines import recovery_lines
from holdfast.cli.render.terminal_output import count_with_noun, shortened_line
from holdfast.models.views.job_views import JobView


def job_lines(view: JobView) -> list[str]:
    """The job in a few lines."""
    seconds = "" if view.seconds is None else f" in {view.seconds:.1f} s"
    reason = f" ({view.stop_reason})" if view.stop_reason else ""
    lines = [
        f"{view.job_id}  {view.status}{reason}{seconds}  preset {view.preset}, model {view.model}",
        f"question: {shortened_line(view.question, 300)}",
    ]
    if view.answer:
        lines.append(f"answer:   {shortened_line(view.answer, 300)}")
    if view.message:
        lines.append(f"message:  {shortened_line(view.message, 600)}")
    lines.append(f"spent:    {spending_text(view)}")
    if view.estimate is not None:
        lines += comparison_lines(view.estimate, view.currency)
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
