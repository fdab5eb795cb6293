"""Tests for ages as people write them, and durations as the API answers them."""

from datetime import timedelta

import pytest

from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_age import parse_age
from holdfast.models.schedules.schedule import ScheduleTerms


@pytest.mark.parametrize(
    "age",
    [
        *("", "30", "d", "-1d", "0d", "1w", "30 d", "999999d"),
        *("P", "PT0S", "PT59M", "-PT5H", "P300Y", "12:00:00", "PT12H\n"),
    ],
)
def test_a_text_that_is_no_age_is_refused(age: str) -> None:
    with pytest.raises(BadInput, match="at least 1h, such as 30d or 12h"):
        parse_age(age)


def test_an_age_is_given_in_days_or_hours() -> None:
    assert parse_age("30d") == timedelta(days=30)
    assert parse_age("12h") == timedelta(hours=12)


@pytest.mark.parametrize("age", ["1h", "12h", "1d", "36h", "366d"])
def test_the_catch_up_of_a_schedule_can_be_sent_back_as_it_was_answered(age: str) -> None:
    terms = ScheduleTerms(times="daily 08:00", catch_up=parse_age(age))
    answered = terms.model_dump(mode="json")["catch_up"]

    assert parse_age(answered) == parse_age(age)
