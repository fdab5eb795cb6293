"""Format a crash receipt as lines of text: the loss, reused calls and repeated calls."""

from holdfast.cli.render.terminal_output import count_with_noun
from holdfast.models.jobs.job_recovery import LossCause, Recovery


def recovery_lines(recovery: Recovery) -> list[str]:
    """Two lines: the loss and when work continued; the calls saved and the calls repeated."""
    loss = (
        f"recovery {recovery.number}: {_loss_text(recovery)} at {recovery.last_seen_at:%H:%M:%S %Z}"
    )
    return [
        f"{loss}; work continued {recovery.seconds_until_resumed:.1f} s later",
        f"  {_savings_text(recovery)}; {_cost_text(recovery)}{_end_text(recovery)}",
    ]


def _loss_text(recovery: Recovery) -> str:
    if recovery.cause is LossCause.DATABASE:
        return "PostgreSQL went away"
    # Not "died": a worker that lives and whose heartbeats do not arrive is replaced as well.
    worker = f"worker {recovery.lost_worker}" if recovery.lost_worker else "a worker"
    return f"{worker} was lost"


def _savings_text(recovery: Recovery) -> str:
    reused = recovery.reused
    calls = _calls(reused.model, reused.tool)
    if not calls:
        return "no finished call was needed again"
    cost = f" that had cost {reused.tokens:,} tokens" if reused.model else ""
    return f"{calls}{cost} reused, not paid again"


def _cost_text(recovery: Recovery) -> str:
    calls = _calls(recovery.sent_again.model, recovery.sent_again.tool)
    return f"{calls} in flight sent again" if calls else "no call in flight was lost"


def _end_text(recovery: Recovery) -> str:
    seconds = recovery.seconds_to_end
    return "" if seconds is None else f"; the job ended {seconds:.1f} s after the loss"


def _calls(model: int, tool: int) -> str:
    counts = ((model, "model call"), (tool, "tool call"))
    return " and ".join(count_with_noun(count, noun) for count, noun in counts if count)
