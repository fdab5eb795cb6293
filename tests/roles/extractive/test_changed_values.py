"""Tests that the built-in model tells the value before a change from the value after it."""

import pytest

from holdfast.roles.tasks.extractor import Fragment
from tests.roles.extractive.extractive_samples import GARDEN, LEASE, extracted_entity

CHANGES = Fragment(
    title="Notes of the harbour office",
    text="The berth fee of the marina rose from 14 euros to 19 euros a night in spring. "
    "The regatta was postponed from 6 May 2023 to 17 June 2023 because of fog. "
    "The crane may lift 900 kilograms. "
    "The pilot service was transferred from Ada Marsh to Nell Ogden. "
    "The dredging runs from 2 July 2024 to 9 August 2024.",
)


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("fee (number): What is the berth fee of the marina a night?", "19 euros"),
        ("fee (number): What was the old berth fee of the marina a night?", "14 euros"),
        ("date: When is the regatta?", "17 June 2023"),
        ("date: From which date was the regatta postponed?", "6 May 2023"),
        ("person (person): Who is in charge of the pilot service?", "Nell Ogden"),
        ("person (person): From whom was the pilot service transferred?", "Ada Marsh"),
    ],
)
def test_a_change_gives_the_new_value_unless_the_former_one_is_asked_for(
    asked: str, value: str
) -> None:
    assert extracted_entity(asked, CHANGES, LEASE, GARDEN).value == value


def test_a_time_from_one_date_to_another_is_no_change() -> None:
    asked = "date: When does the dredging begin?"

    assert extracted_entity(asked, CHANGES).value == "2 July 2024"
