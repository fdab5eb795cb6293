"""A crash receipt in words."""

from holdfast.cli.output import counted
from models.recoveries import Cause, Recovery


def recovery_lines(recovery: Recovery) -> list[str]:
    """Two lines: what was lost and when work went on; what that saved and cost."""
    lost = f"recovery {recovery.number}: {_what(recovery)} at {recovery.lost_at:%H:%M:%S %Z}"
    return [
        f"{lost}; work went on {recovery.seconds_until_resumed:.1f} s later",
        f"  {_saved(recovery)}; {_cost(recovery)}{_end(recovery)}",
    ]


def _what(recovery: Recovery) -> str:
    if recovery.cause is Cause.DATABASE:
        return "PostgreSQL went away"
    return f"worker {recovery.lost} died" if recovery.lost else "a worker died"


def _saved(recovery: Recovery) -> str:
    reused = recovery.reused
    calls = _calls(reused.model, reused.tool)
    if not calls:
        return "no finished call was needed again"
    cost = f" that had cost {reused.tokens:,} tokens" if reused.model else ""
    return f"{calls}{cost} reused, not paid again"


def _cost(recovery: Recovery) -> str:
    calls = _calls(recovery.sent_again.model, recovery.sent_again.tool)
    return f"{calls} in flight sent again" if calls else "none in flight was lost"


def _end(recovery: Recovery) -> str:
    seconds = recovery.seconds_to_end
    return "" if seconds is None else f"; the job ended {seconds:.1f} s after the loss"


def _calls(model: int, tool: int) -> str:
    named = ((model, "model call"), (tool, "tool call"))
    return " and ".join(counted(n, word) for n, word in named if n)
