"""Tests for the totals of spending: several breakdowns that agree."""

from collections.abc import Iterable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.budget.spend_breakdown import Bill, Phase, Spend
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.budget.role_phases import PHASE_BY_ROLE, phase_of
from holdfast.planning.budget.spend_totals import deviation_tokens, spend_breakdown

ROLES = (*PHASE_BY_ROLE, "somebody_new")
bills = st.lists(
    st.builds(
        Bill,
        role=st.sampled_from(ROLES),
        task=st.sampled_from(("", "T1", "T2", "report")),
        model=st.sampled_from(("a", "b")),
        calls=st.integers(1, 5),
        input_tokens=st.integers(0, 10_000),
        output_tokens=st.integers(0, 10_000),
        cost=st.none() | st.decimals(0, 100, places=6),
    ),
    max_size=12,
)


def total(spends: Iterable[Spend]) -> tuple[int, int, int, Decimal | None]:
    each = list(spends)
    costs = [spend.cost for spend in each]
    known = [cost for cost in costs if cost is not None]
    return (
        sum(spend.calls for spend in each),
        sum(spend.input_tokens for spend in each),
        sum(spend.output_tokens for spend in each),
        sum(known, Decimal(0)) if len(known) == len(costs) else None,
    )


@pytest.mark.conformance("VMAO-13")
@given(bills)
def test_by_phase_role_task_and_model_it_is_the_same_sum(found: list[Bill]) -> None:
    spent = spend_breakdown(found)

    groups = (spent.by_phase, spent.by_role, spent.by_task, spent.by_model)
    assert {total(group) for group in groups} == {total([spent.total])}
    assert {each.name for each in spent.by_phase} <= {phase.value for phase in Phase}


@pytest.mark.conformance("VMAO-13")
def test_every_phase_has_its_roles_and_a_role_that_is_not_listed_works_on_tasks() -> None:
    assert set(PHASE_BY_ROLE.values()) == set(Phase)
    assert set(PHASE_BY_ROLE) == set(RoleName)
    assert phase_of("somebody_new") is Phase.EXECUTION
    in_phase = {phase: {r for r in PHASE_BY_ROLE if phase_of(r) is phase} for phase in Phase}
    assert in_phase[Phase.PLANNING] == {"planner"}
    assert in_phase[Phase.VERIFICATION] == {"verifier", "answer_judge"}
    assert in_phase[Phase.REPLANNING] == {"replanner", "repairer", "reviser", "gap_planner"}
    assert {"assessor", "stepper", "extractor", "reasoner"} <= in_phase[Phase.EXECUTION]
    assert [phase_of(role).value for role in ("planner", "step_planner", "gap_planner")] == [
        "planning",
        "execution",
        "replanning",
    ]


@pytest.mark.conformance("TDP-08")
def test_output_spent_on_deviations_is_told_by_role_apart_from_the_rest() -> None:
    roles = {"planner": 1, "replanner": 20, "repairer": 300, "reviser": 4000, "reasoner": 50_000}
    found = [Bill(role=role, model="m", calls=1, output_tokens=n) for role, n in roles.items()]

    assert deviation_tokens(found) == {
        "replanner": 20,
        "repairer": 300,
        "reviser": 4000,
        "gap_planner": 0,
    }
