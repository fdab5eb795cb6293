"""Format the model and tool calls of a job as a table."""

from collections.abc import Iterable

from holdfast.cli.render.plain_table import PlainTable, plain_table
from holdfast.models.calls.call_records import CallView

_COLUMNS = (
    "call",
    "kind",
    "role",
    "task",
    "name",
    "status",
    "seconds",
    "in",
    "out",
    "reused",
    "request",
)


def call_table(calls: Iterable[CallView]) -> PlainTable:
    """Return the calls as a table; the first column is the number for `holdfast trace`."""
    return plain_table(_COLUMNS, [_row(call) for call in calls])


def _row(call: CallView) -> tuple[object, ...]:
    return (
        call.id,
        call.kind,
        call.role,
        call.task,
        call.name,
        call.status,
        _seconds(call),
        call.tokens["input"],
        call.tokens["output"],
        call.reused,
        call.request_hash[:10],
    )


def _seconds(call: CallView) -> str:
    if call.finished_at is None:
        return ""
    return f"{(call.finished_at - call.started_at).total_seconds():.1f}"
