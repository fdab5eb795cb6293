"""Tests that the times of schedules are read as people write them."""

from datetime import timedelta

import pytest

from holdfast.models.errors import BadInput
from holdfast.models.schedules.schedule_times import ScheduleTimes, parse_times

READ = {
    "every 6h": ScheduleTimes(every=timedelta(hours=6)),
    "Every 2 days": ScheduleTimes(every=timedelta(days=2)),
    "daily 08:00": ScheduleTimes(hour=8),
    "daily at 8:05": ScheduleTimes(hour=8, minute=5),
    "weekdays 23:59": ScheduleTimes(hour=23, minute=59, weekdays=(1, 2, 3, 4, 5)),
    "weekly on  Monday at 08:00": ScheduleTimes(hour=8, weekdays=(1,)),
    "weekly on fri, sun, friday 08:00": ScheduleTimes(hour=8, weekdays=(0, 5)),
    "monthly on 28 00:00": ScheduleTimes(day=28),
}
REFUSED = {
    "": "names no times",
    "0 8 * * 1": "names no times",
    "daily 24:00": "names no times",
    "every 10 minutes": "names no times",
    "every 0h": "at most every hour",
    "every 367d": "at least every year",
    "weekly on moonday 08:00": "'moonday' is no day",
    "weekly on m 08:00": "'m' is no day",
    "monthly on 31 08:00": "not every month has a day 31",
}


@pytest.mark.parametrize("text", READ)
def test_times_are_read(text: str) -> None:
    assert parse_times(text) == READ[text]


@pytest.mark.parametrize("text", REFUSED)
def test_other_texts_are_refused_with_the_reason(text: str) -> None:
    with pytest.raises(BadInput, match=REFUSED[text]):
        parse_times(text)
