"""Say states, amounts and times in the words of the page."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from holdfast.jobs.record_in_words import (
    call_state,
    cause,
    model_name,
    task_kind,
    task_of_call,
    task_state,
)
from holdfast.models.budget.money_text import format_money
from holdfast.models.text.value_text import stored_text_in_words, value_as_text
from holdfast.web.rendering import plain_words
from holdfast.web.rendering.amounts import plain_number
from holdfast.web.rendering.braced_references import with_braces
from holdfast.web.rendering.methods import method
from holdfast.web.rendering.outcomes import outcome

_TONES = {
    "done": "good",
    "running": "live",
    "queued": "plain",
    "paused": "weak",
    "failed": "bad",
    "cancelled": "plain",
    "superseded": "plain",
    "pending": "plain",
}
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400


def tone(status: str) -> str:
    """The colour of a status, which never stands without its word."""
    return _TONES.get(status, "plain")


def model_title(model: str) -> str:
    """The name of a model where a line begins; the name of a hosted model keeps its letters."""
    name = model_name(model)
    return name if name == model else sentence(name)


def role_use(role: str) -> str:
    """What a model of a role is used for; of a role for one preset, with the preset's method."""
    preset, _, name = role.rpartition(": ")
    words = plain_words.work(name)
    return f"{words} ({method(preset).title})" if preset else words


def price(amount: Decimal | float, currency: str) -> str:
    """What something is to cost, before it is paid."""
    return format_money(amount, currency) if amount else "free of charge"


def number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.0f}"


def duration(seconds: float | None) -> str:
    """A time span in its two largest units."""
    if seconds is None:
        return "unknown"
    if seconds < _MINUTE_S:
        return f"{seconds:.1f} s"
    if seconds < _HOUR_S:
        return f"{int(seconds) // _MINUTE_S} min {int(seconds) % _MINUTE_S} s"
    hours = int(seconds) // _HOUR_S
    return f"{hours} h {int(seconds) % _HOUR_S // _MINUTE_S} min"


def moment(at: datetime | None) -> str:
    """A time in the server's time zone: of today the hour, else the date too."""
    if at is None:
        return ""
    here = at.astimezone()
    is_today = here.date() == datetime.now(UTC).astimezone().date()
    return f"{here:%H:%M:%S}" if is_today else f"{here.day} {here:%b %Y, %H:%M}"


def moment_in(at: datetime, time_zone: str) -> str:
    """A time in a named time zone, with its name."""
    there = at.astimezone(ZoneInfo(time_zone))
    return f"{there.day} {there:%b %Y, %H:%M} {time_zone}"


def size(count: int) -> str:
    """A number of bytes in the unit that fits."""
    value = float(count)
    for unit in ("bytes", "KB", "MB"):
        if value < 1000:
            return f"{value:,.0f} {unit}" if unit == "bytes" else f"{value:,.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} GB"


def counted(count: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.0%}"


def sentence(text: str) -> str:
    """The text with a capital at its beginning, unless a name such as `max_cost` begins it."""
    is_word = re.match(r"[^\W\d_]+(?=[ ,:;]|$)", text)
    return text[:1].upper() + text[1:] if is_word else text


def clipped(text: str, length: int) -> str:
    """The beginning of a text, up to a number of characters."""
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


FILTERS: Mapping[str, Callable[..., object]] = {
    "tone": tone,
    "task_kind": task_kind,
    "task_state": task_state,
    "call_state": call_state,
    "model_name": model_name,
    "model_title": model_title,
    "outcome": outcome,
    "method": method,
    "money": format_money,
    "price": price,
    "number": number,
    "plain_number": plain_number,
    "duration": duration,
    "moment": moment,
    "moment_in": moment_in,
    "size": size,
    "counted": counted,
    "percent": percent,
    "clipped": clipped,
    "sentence": sentence,
    "references": plain_words.references,
    "with_braces": with_braces,
    "failure": plain_words.failure_in_words,
    "plain": plain_words.plain_words,
    "value_name": plain_words.value_name,
    "cause": cause,
    "work": plain_words.work,
    "role_use": role_use,
    "task_of_call": task_of_call,
    "value": value_as_text,
    "answer": stored_text_in_words,
}
