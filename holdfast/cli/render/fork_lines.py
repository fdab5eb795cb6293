"""Format what a fork runs, keeps and may cost as lines of text."""

from collections.abc import Iterator

from holdfast.cli.render.terminal_output import count_with_noun, shortened_line
from holdfast.models.budget.money_text import format_money
from holdfast.records.fork_submission import ForkPlan

_MAX_DESCRIPTION = 70
_MAX_TASKS = 40


def fork_lines(fork: ForkPlan) -> Iterator[str]:
    """The tasks that run with why, the kept tasks, and the price."""
    yield f"fork of {fork.forked_job}: {shortened_line(fork.question, 200)}"
    for change in fork.changes:
        yield f"change: {shortened_line(change, 200)}"
    if fork.is_whole:
        # The job plans again, so its present tasks may not be those that run.
        yield "runs:   the whole job; a call whose request stays the same is not sent"
    else:
        yield from _task_lines(fork)
    kept = f"{count_with_noun(len(fork.kept), 'task')}, " if not fork.is_whole else ""
    named = f": {shortened_line(', '.join(fork.kept), 200)}" if fork.kept else ""
    yield f"keeps:  {kept}{count_with_noun(fork.kept_calls, 'model call')}{named}"
    yield (
        f"price:  {count_with_noun(fork.calls, 'model call')}, {fork.tokens:,} tokens, "
        f"{format_money(fork.cost, fork.currency)}, with verification and report, "
        "if as many calls are needed as in the forked job"
    )
    if fork.sends_again:
        yield "        the calls of the named tasks are sent again; all others are read from record"
    if fork.note:
        yield f"note:   {fork.note}"


def _task_lines(fork: ForkPlan) -> Iterator[str]:
    for task in fork.rerun[:_MAX_TASKS]:
        words = shortened_line(task.description, _MAX_DESCRIPTION)
        yield f"runs:   {task.task:<6} {task.why:<10} {words}"
    if len(fork.rerun) > _MAX_TASKS:
        yield f"        and {len(fork.rerun) - _MAX_TASKS} more tasks"
