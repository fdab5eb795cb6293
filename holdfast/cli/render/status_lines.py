"""Format a job's status document as lines of text: running work, blockers, next actions, limits."""

from collections.abc import Iterator
from datetime import datetime

from holdfast.cli.render.job_lines import stage_lines
from holdfast.cli.render.question_lines import open_question_lines
from holdfast.cli.render.terminal_output import shortened_line
from holdfast.models.views.status_views import (
    LimitUsage,
    OpenCall,
    PendingActivity,
    StatusDocument,
)

_MAX_WAITING = 20
_MAX_FAILURE = 300
_COUNT_LIMITS = ("tool calls", "replans")
"""Limits that are not budgets; what is left of them is not shown."""


def status_lines(document: StatusDocument) -> Iterator[str]:
    """The document for people; times are local."""
    yield f"{document.job_id}  {document.status}"
    yield from _blocker_lines(document)
    for activity in document.doing:
        yield f"doing:    {_activity_text(activity)}"
    for call in document.model_calls:
        yield f"model:    {_call_text(call)}"
    for action in document.next:
        yield f"next:     {action}"
    yield from _waiting_lines(document)
    yield "used:     " + ", ".join(_limit_text(usage) for usage in document.allowances)
    yield from stage_lines(document.stages, document.currency)


def repeated_try_line(activity: PendingActivity) -> str:
    """A line of progress for an activity whose last try failed."""
    failure = shortened_line(activity.last_failure, _MAX_FAILURE)
    return f"  {activity.what:<5} waits    {failure}; it is tried again"


def _blocker_lines(document: StatusDocument) -> Iterator[str]:
    if document.message:
        yield f"message:  {shortened_line(document.message, 300)}"
    for reason in document.blocked_by:
        yield f"blocked:  {reason}"
    for question in document.questions:
        yield from open_question_lines(question)
    for warning in document.warnings:
        yield f"warning:  {warning}"


def _waiting_lines(document: StatusDocument) -> Iterator[str]:
    for task in document.waiting[:_MAX_WAITING]:
        needs = f"waits for {', '.join(task.waits_for)}" if task.waits_for else "is ready"
        yield f"waiting:  {task.task} {needs} - {shortened_line(task.what, 70)}"
    left_out = len(document.waiting) - _MAX_WAITING
    if left_out > 0:
        yield f"waiting:  {left_out} more"


def _activity_text(activity: PendingActivity) -> str:
    parts = [f"{activity.what} {activity.state}"]
    if activity.attempt > 1:
        parts.append(f"try {activity.attempt}")
    if activity.since is not None:
        parts.append(f"since {_time_of_day(activity.since)}")
    if activity.worker:
        parts.append(f"on {activity.worker}")
    if activity.next_try_at is not None and activity.attempt > 1:
        parts.append(f"next try at {_time_of_day(activity.next_try_at)}")
    if activity.last_failure:
        parts.append(f"last failure: {shortened_line(activity.last_failure, _MAX_FAILURE)}")
    return ", ".join(parts)


def _call_text(call: OpenCall) -> str:
    place = f"{call.role} of {call.task}" if call.task else call.role
    if call.until is None:
        came = f", {call.received_chars:,} characters so far" if call.received_chars else ""
        return f"{place} is answered by {call.model}{came}"
    return f"{place} waits until {_time_of_day(call.until)}: {shortened_line(call.why, 160)}"


def _limit_text(usage: LimitUsage) -> str:
    limit = "" if usage.limit is None else f" of {_amount(usage.limit)}"
    has_rest = usage.what not in _COUNT_LIMITS and usage.left is not None
    left = f" ({_amount(usage.left)} left)" if has_rest else ""
    is_single = usage.limit is None and usage.used == 1
    unit = usage.what.removesuffix("s") if is_single and usage.what.islower() else usage.what
    return f"{_amount(usage.used)}{limit} {unit}{left}"


def _amount(value: float | None) -> str:
    """A whole number as it is, an amount of money with four decimals."""
    if value is None:
        return "unknown"
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _time_of_day(moment: datetime) -> str:
    return f"{moment.astimezone():%H:%M:%S}"
