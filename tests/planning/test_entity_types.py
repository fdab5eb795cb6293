"""Tests for the values of another type that are sent back to their author."""

import pytest
from pydantic import JsonValue

from holdfast.models.plans.research_plan import FINAL_ANSWER, EntityType, ExpectedEntity
from holdfast.planning.results.entity_types import EntityTypeCheck

EXPECTS = (
    ExpectedEntity(name="year", type=EntityType.INTEGER),
    ExpectedEntity(name="town"),
    ExpectedEntity(name=FINAL_ANSWER),
)


@pytest.fixture
def check() -> EntityTypeCheck:
    return EntityTypeCheck(EXPECTS, "outputs")


@pytest.mark.conformance("MOD-10")
def test_values_of_another_type_are_sent_back_once(check: EntityTypeCheck) -> None:
    values: dict[str, JsonValue] = {"year": "many", "town": ["Orme"], FINAL_ANSWER: {"a": 1}}

    faults = check.faults(values)

    assert faults == [
        f"'{name}' in `outputs` must be of the type {kind}: write it so, or the value null if it "
        "cannot be concluded"
        for name, kind in (("year", "integer"), ("town", "string"), (FINAL_ANSWER, "string"))
    ]
    assert check.faults(values) == []


def test_values_that_can_be_converted_or_are_left_out_are_no_fault(check: EntityTypeCheck) -> None:
    assert check.faults({"year": "1,932", "town": None, FINAL_ANSWER: ["Orme", "Selby"]}) == []
    assert check.faults({"year": []}) != []
