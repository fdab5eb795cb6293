"""Tests for entity names that an answer writes in another way."""

import pytest

from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.planning.results.entity_names import EntityNameCheck, promised_name

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


@pytest.fixture
def check() -> EntityNameCheck:
    return EntityNameCheck(EXPECTS, "entities")


def test_an_unknown_name_is_a_fault_while_an_entity_is_missing(check: EntityNameCheck) -> None:
    (fault,) = check.unknown_names(["Country", "Birth Date"])

    assert "no entity 'Country' is asked for, and 'county' is missing" in fault
    assert check.faults(["Country", "Birth Date"]) == [fault]


@pytest.mark.parametrize("written", [["County"], ["County", "birth_date", "more"], []])
def test_what_is_left_out_or_further_is_no_unknown_name(
    check: EntityNameCheck, written: list[str]
) -> None:
    assert check.unknown_names(written) == []


@pytest.mark.conformance("MOD-10")
def test_required_entities_that_are_left_out_are_sent_back_once() -> None:
    optional = ExpectedEntity(name="altitude", required=False)
    check = EntityNameCheck([*EXPECTS, optional], "entities")

    (fault,) = check.faults(["birthDate"])

    assert fault == (
        "'county' in `entities` is left out: give it, or the value null if it is not there"
    )
    assert check.faults(["birthDate"]) == []


def test_an_answer_with_all_required_entities_has_no_fault(check: EntityNameCheck) -> None:
    assert check.faults(["County", "birth_date"]) == []
