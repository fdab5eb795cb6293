"""Tests for entity names that an answer writes in another way."""

import pytest

from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.planning.results.entity_names import entity_name_faults, promised_name

EXPECTS = [ExpectedEntity(name="county"), ExpectedEntity(name="birth_date")]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("county", "county"),
        ("County", "county"),
        (" COUNTY ", "county"),
        ("birthDate", "birth_date"),
        ("Birth‑date", "birth_date"),
        ("`birth_date`", "birth_date"),
        ("country", "country"),
    ],
)
@pytest.mark.conformance("MOD-10")
def test_a_name_is_read_in_another_case_and_typography(written: str, read: str) -> None:
    assert promised_name(written, EXPECTS) == read


def test_a_name_that_may_mean_two_entities_stays() -> None:
    both = [ExpectedEntity(name="county_a"), ExpectedEntity(name="countyA")]

    assert promised_name("County A", both) == "County A"


def test_an_unknown_name_is_a_fault_while_an_entity_is_missing() -> None:
    (fault,) = entity_name_faults(["Country", "Birth Date"], EXPECTS)

    assert "no entity 'Country' is asked for, and 'county' is missing" in fault


@pytest.mark.parametrize("written", [["County"], ["County", "birth_date", "more"], []])
def test_what_is_left_out_or_further_is_no_fault(written: list[str]) -> None:
    assert entity_name_faults(written, EXPECTS) == []
