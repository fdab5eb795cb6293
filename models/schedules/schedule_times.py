"""Read the times of a schedule: `every 6h`, `daily 08:00`, `weekly on monday 08:00`."""

import re
from datetime import timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen

WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
"""Temporal counts the days of a week from Sunday, which is 0."""
SHORTEST = timedelta(hours=1)
"""The shortest pause between two runs: a slip of the hand must not cost a budget in a night."""
_LONGEST = timedelta(days=366)
_LAST_DAY = 28
"""The last day that every month has."""
_CLOCK = r"(?:at )?(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)"
_EVERY = re.compile(r"every (?P<count>\d{1,5}) ?(?P<unit>h|hours?|d|days?)")
_DAILY = re.compile(rf"(?P<days>daily|weekdays) {_CLOCK}")
_WEEKLY = re.compile(rf"weekly on (?P<names>[a-z]+(?:, ?[a-z]+)*) {_CLOCK}")
_MONTHLY = re.compile(rf"monthly on (?P<day>\d{{1,2}}) {_CLOCK}")
_FORMS = (
    'write "every 6h", "daily 08:00", "weekdays 08:00", "weekly on monday 08:00" or '
    '"monthly on 1 08:00"'
)


class ScheduleTimes(Frozen):
    """The times at which a schedule runs: a fixed pause, or a time of certain days."""

    every: timedelta | None = None
    """The pause between two runs; None: at `hour` and `minute` of the days."""
    hour: int = 0
    minute: int = 0
    weekdays: tuple[int, ...] = ()
    """From 0, which is Sunday; empty: every day of the week."""
    day: int | None = None
    """The day of the month; None: every day."""


def parse_times(text: str) -> ScheduleTimes:
    """Return the times that a person wrote.

    Raises:
        BadInput: the text is in none of the forms, or names a day that does not exist.
    """
    words = " ".join(text.lower().split())
    if found := _EVERY.fullmatch(words):
        return _pause(text, int(found["count"]), found["unit"][0])
    if found := _DAILY.fullmatch(words):
        weekdays = tuple(range(1, 6)) if found["days"] == "weekdays" else ()
        return ScheduleTimes(
            hour=int(found["hour"]), minute=int(found["minute"]), weekdays=weekdays
        )
    if found := _WEEKLY.fullmatch(words):
        names = [name.strip() for name in found["names"].split(",")]
        days = tuple(sorted({_weekday(name) for name in names}))
        return ScheduleTimes(hour=int(found["hour"]), minute=int(found["minute"]), weekdays=days)
    if found := _MONTHLY.fullmatch(words):
        day = int(found["day"])
        if not 1 <= day <= _LAST_DAY:
            raise BadInput(f"{text[:80]!r}: not every month has a day {day}; name a day up to 28")
        return ScheduleTimes(hour=int(found["hour"]), minute=int(found["minute"]), day=day)
    raise BadInput(f"{text[:80]!r} names no times of a schedule; {_FORMS}")


def checked_time_zone(name: str) -> str:
    """Return the name of the time zone.

    Raises:
        BadInput: there is no such time zone.
    """
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadInput(
            f"there is no time zone {name[:60]!r}; write a name of the IANA database, such as "
            "Europe/Berlin or UTC"
        ) from error
    return name


def _pause(text: str, count: int, unit: str) -> ScheduleTimes:
    every = timedelta(hours=count) if unit == "h" else timedelta(days=count)
    if not SHORTEST <= every <= _LONGEST:
        raise BadInput(f"{text[:80]!r}: a schedule runs at most every hour and at least every year")
    return ScheduleTimes(every=every)


def _weekday(name: str) -> int:
    for number, full in enumerate(WEEKDAYS):
        if len(name) > 2 and full.startswith(name):
            return number
    raise BadInput(f"{name[:40]!r} is no day of the week; write {', '.join(WEEKDAYS)}")
