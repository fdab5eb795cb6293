"""Format verification rounds, verdicts and contradictions."""

from collections.abc import Iterator

from holdfast.cli.render.plain_table import PlainTable, plain_table
from holdfast.cli.render.terminal_output import shortened_line
from holdfast.models.verification.verification_verdicts import Contradiction, StopLogEntry
from holdfast.models.verification.verification_views import VerificationRoundView

_VERDICT_COLUMNS = (
    "task",
    "attempt",
    "status",
    "completeness",
    "confidence",
    "recommends",
    "missing",
)


def round_lines(entry: StopLogEntry) -> Iterator[str]:
    """The round's entry in the stop log: each stop condition, marked if it was met."""
    end = f"stopped: {entry.fired.value}" if entry.fired else "another round followed"
    yield f"round {entry.round}: {end}"
    for condition in entry.conditions:
        mark = "*" if condition.fired else " "
        yield f"  {mark} {condition.condition.value}: {condition.seen}"


def verdict_table(round_: VerificationRoundView) -> PlainTable:
    """The verdicts of a round; a verdict of an earlier round is marked as such."""
    rows = [
        (
            verdict.task_id,
            verdict.attempt,
            f"{verdict.status.value} (earlier)"
            if verdict.is_carried_over
            else verdict.status.value,
            f"{verdict.completeness:.2f}",
            f"{verdict.confidence:.2f}",
            verdict.recommendation.value,
            shortened_line("; ".join(verdict.missing), 90),
        )
        for verdict in round_.verdicts
    ]
    return plain_table(_VERDICT_COLUMNS, rows)


def contradiction_line(contradiction: Contradiction) -> str:
    """Both claims, and which task settled the contradiction."""
    settled_by = contradiction.settled_by
    outcome = f"settled by {settled_by}" if settled_by else "not settled"
    one, other = shortened_line(contradiction.one, 80), shortened_line(contradiction.other, 80)
    return f"contradiction of {' and '.join(contradiction.tasks)}: {one} / {other} ({outcome})"
