"""Tests for the coordination benchmark: its cases, its arms, its claims, and one whole run."""

import json
import subprocess
import sys
from typing import Any

import pytest

from holdfast.evals.coordination.coordination_cases import CoordinationCase, coordination_cases
from holdfast.evals.coordination.coordination_runs import (
    ALONE,
    COORDINATED,
    UNVERIFIED,
    check_matched_arms,
    coordination_arms,
)
from holdfast.evals.coordination.coordination_table import difference_of
from holdfast.models.errors import BadInput

BY_ID = {each.id: each for each in coordination_cases()}


def test_no_case_follows_from_what_one_agent_can_hold():
    """Each agent makes two look-ups; one that made all would know the answer."""
    for case in BY_ID.values():
        lookups = dict.fromkeys(each for part in case.parts for each in part.lookups)
        stops_early = any(part.first_attempt for part in case.parts)

        assert stops_early or case.settled_by or len(lookups) > 2, case.id


def test_a_case_that_concludes_from_what_nobody_knows_is_refused():
    row = BY_ID["silo"].model_dump()
    row["answers"] = [{"needs": ["Nobody's fact."], "answer": "60"}, {"answer": "60"}]

    with pytest.raises(ValueError, match="concludes from what nobody knows"):
        CoordinationCase.model_validate(row)


@pytest.mark.conformance("EVA-06")
def test_arms_that_differ_in_their_budget_are_refused():
    team, *others = coordination_arms()
    richer = others[0].model_copy(update={"strategy": {**others[0].strategy, "max_agent_calls": 3}})

    assert [each.name for each in (team, *others)] == [COORDINATED, UNVERIFIED, ALONE]
    with pytest.raises(BadInput, match="not matched: max_agent_calls differ"):
        check_matched_arms([team, richer])


@pytest.mark.conformance("WAVE-12", "EVA-06")
@pytest.mark.parametrize(
    ("points", "claim"),
    [
        ([100.0], "none: fewer than 5 cases"),
        ([100.0] * 4, "none: fewer than 5 cases"),
        ([100.0] * 5, "better"),
        ([-100.0] * 5, "worse"),
        ([100.0, 0.0, 0.0, 0.0, 0.0], "none: the interval holds 0"),
        ([4.0] * 6, "none: too small to matter"),
    ],
)
def test_nothing_is_claimed_from_fewer_than_five_cases(points: list[float], claim: str):
    found = difference_of(ALONE, "", points)

    assert found.claim == claim
    assert (found.low is None) == (len(points) < 5)


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "holdfast.evals.coordination", *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.conformance("WAVE-12", "EVA-06")
def test_one_command_runs_the_seven_patterns_under_three_matched_arms():
    ran = run("--json")

    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    correct = {case["case"]: case["correct"] for case in found["cases"]}
    assert list(correct) == list(BY_ID)
    assert len({case["pattern"] for case in found["cases"]}) == 7
    assert all(each[COORDINATED] for each in correct.values())
    assert not any(each[ALONE] for each in correct.values())
    assert [name for name, each in correct.items() if not each[UNVERIFIED]] == [
        "contradiction",
        "premature-closure",
    ]
    assert (found["missing"], found["leaked"], found["invalid"]) == ([], [], [])
    assert found["prompts"] > 40
    by_pattern = [each for each in found["differences"] if each["pattern"]]
    assert {each["claim"] for each in by_pattern} == {"none: fewer than 5 cases"}
    [alone] = [e for e in found["differences"] if not e["pattern"] and e["against"] == ALONE]
    assert (alone["points"], alone["claim"]) == (100, "better")


@pytest.mark.long
def test_a_case_that_does_not_exist_is_named():
    ran = run("--cases", "silo,orchestra")

    assert ran.returncode == 2
    assert "there is no case 'orchestra'; cases: hidden-profile, silo" in ran.stderr
