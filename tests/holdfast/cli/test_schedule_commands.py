"""Tests for `holdfast schedules`."""

import json

import pytest

from tests.support.services.command_shell import command_shell

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.conformance("REC-06")]


def test_a_schedule_is_added_listed_paused_resumed_and_ended() -> None:
    with command_shell() as here:
        here.holdfast("up")
        weekly = ("--at", "weekly on monday 08:00", "--zone", "Europe/Berlin")
        made = here.holdfast("schedules", "add", "Who built the pier?", *weekly)
        schedule = made.out.strip()
        (listed,) = json.loads(here.holdfast("schedules", "list", "--json").out)
        changed = [
            json.loads(here.holdfast("schedules", word, schedule, "--json").out)
            for word in ("pause", "resume", "end")
        ]
        shown = here.holdfast("schedules", "show", schedule).out
        refused = [
            here.holdfast("schedules", *words).refused()
            for words in (
                ("run", schedule),
                ("add", "Who?", "--at", "at noon"),
                ("add", "--update", "JOB", "--set", "slots=1", "--at", "daily 08:00"),
                ("pause", "none"),
            )
        ]

    assert listed["id"] == schedule
    assert listed["terms"]["time_zone"] == "Europe/Berlin"
    assert listed["next_run"] is not None
    assert [each["status"] for each in changed] == ["paused", "active", "ended"]
    assert "ended, weekly on monday 08:00 Europe/Berlin" in shown
    assert "is ended; add another one" in refused[0]
    assert "names no times of a schedule" in refused[1]
    assert "alone" in refused[2]
    assert "there is no schedule 'none'" in refused[3]
