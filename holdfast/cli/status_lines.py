"""`holdfast status`: what a job is doing, what blocks it, and what happens next, in lines."""

from collections.abc import Iterator
from datetime import datetime

from holdfast.cli.installation import ask
from holdfast.cli.output import print_json, print_text, printable, short
from holdfast.cli.question_lines import question_lines
from holdfast.status import status_of
from models.status import Allowance, Doing, StatusDocument

_MOST_WAITING = 20
_COUNTS = ("tool calls", "replans")
"""Limits that are no budget: of these nobody asks what is left."""


def status_command(job_id: str, *, json_output: bool) -> None:
    found = ask(lambda holdfast: status_of(holdfast, job_id))
    if json_output:
        print_json(found)
        return
    for line in status_lines(found):
        print_text(printable(line))


def status_lines(found: StatusDocument) -> Iterator[str]:
    """The document as a person reads it; times are local."""
    yield f"{found.job_id}  {found.status}"
    yield from _standing(found)
    for doing in found.doing:
        yield f"doing:    {_doing(doing)}"
    for what in found.next:
        yield f"next:     {what}"
    yield from _waiting(found)
    yield "used:     " + ", ".join(_allowance(each) for each in found.allowances)


def _standing(found: StatusDocument) -> Iterator[str]:
    """What keeps it from going on, and whom it waits for."""
    if found.message:
        yield f"message:  {short(found.message, 300)}"
    for reason in found.blocked_by:
        yield f"blocked:  {reason}"
    for asked in found.questions:
        yield from question_lines(asked)
    for warning in found.warnings:
        yield f"warning:  {warning}"


def _waiting(found: StatusDocument) -> Iterator[str]:
    for waiting in found.waiting[:_MOST_WAITING]:
        needs = f"waits for {', '.join(waiting.waits_for)}" if waiting.waits_for else "is ready"
        yield f"waiting:  {waiting.task} {needs} - {short(waiting.what, 70)}"
    left_out = len(found.waiting) - _MOST_WAITING
    if left_out > 0:
        yield f"waiting:  {left_out} more"


def _doing(doing: Doing) -> str:
    parts = [f"{doing.what} {doing.state}"]
    if doing.attempt > 1:
        parts.append(f"try {doing.attempt}")
    if doing.since is not None:
        parts.append(f"since {_clock(doing.since)}")
    if doing.worker:
        parts.append(f"on {doing.worker}")
    if doing.next_try_at is not None and doing.attempt > 1:
        parts.append(f"next try at {_clock(doing.next_try_at)}")
    if doing.gives_up_at is not None:
        parts.append(f"gives up at {_clock(doing.gives_up_at)}")
    if doing.last_failure:
        parts.append(f"last failure: {short(doing.last_failure, 120)}")
    return ", ".join(parts)


def _allowance(each: Allowance) -> str:
    limit = "" if each.limit is None else f" of {_amount(each.limit)}"
    left = "" if each.what in _COUNTS or each.left is None else f" ({_amount(each.left)} left)"
    return f"{_amount(each.used)}{limit} {each.what}{left}"


def _amount(value: float | None) -> str:
    """Whole numbers as they are, money to a hundredth of a cent."""
    if value is None:
        return "unknown"
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _clock(moment: datetime) -> str:
    return f"{moment.astimezone():%H:%M:%S}"
