"""Tests for the estimate of a plan: agents, money and time, where they are known."""

from decimal import Decimal

import pytest

from holdfast.models.budget.cost_estimates import PlanEstimate, RoleMedians, UsageMedians
from holdfast.models.budget.spend_breakdown import Tokens
from holdfast.models.budget.token_prices import FREE_PRICE, Price
from holdfast.models.plans.research_plan import Plan, Task, TaskKind
from holdfast.models.strategies.job_strategy import Horizon, Strategy, Supervision
from holdfast.planning.budget.estimate_calculation import estimate_plan
from tests.support.jobs.plan_builders import final_task, lookup_task, plan

pytestmark = pytest.mark.conformance("BEY-08")

PRICE = Price(input=Decimal(1), output=Decimal(10))
ROLES = ("extractor", "reasoner", "synthesiser", "step_planner", "stepper", "assessor", "verifier")


def typical(seconds: float | None = 2.0, **fields: object) -> UsageMedians:
    call = RoleMedians(input_tokens=1000, output_tokens=100, seen=9, seconds=seconds)
    given = {"tools": {"lab.wikipedia_search": 1.0}} | fields
    return UsageMedians.model_validate({"roles": dict.fromkeys(ROLES, call), **given})


def told(
    of: Plan, known: UsageMedians, price: Price | None = PRICE, **settings: object
) -> PlanEstimate:
    strategy = Strategy.model_validate(settings)
    return estimate_plan(of, strategy, known, Tokens(), pricing={"": price})


def agent(task_id: str, *after: str) -> Task:
    return Task(
        id=task_id,
        kind=TaskKind.AGENT,
        description="find out",
        agent="generalist",
        depends_on=after,
    )


def calls(of: PlanEstimate) -> dict[str, int]:
    return {each.role: each.calls for each in of.roles}


CHAIN = plan(lookup_task("T1"), lookup_task("T2", "T1"), final_task("T3", "T2"))
WIDE = plan(*(lookup_task(f"T{n}") for n in range(1, 5)), final_task("T9", "T1", "T2", "T3", "T4"))


@pytest.mark.conformance("WAVE-11")
def test_money_is_what_the_typical_calls_cost_at_the_models_price() -> None:
    found = told(CHAIN, typical())

    assert found.cost == 4 * PRICE.of(input_tokens=1000, output_tokens=100)
    costs = {each.role: each.cost for each in found.roles}
    assert costs == {
        "extractor": Decimal("0.004"),
        "reasoner": Decimal("0.002"),
        "synthesiser": Decimal("0.002"),
    }


def test_a_role_with_another_model_has_that_models_price() -> None:
    found = estimate_plan(
        CHAIN,
        Strategy(verify=True),
        typical(),
        Tokens(),
        pricing={"": PRICE, "verifier": FREE_PRICE},
    )

    costs = {each.role: each.cost for each in found.roles}
    assert (costs["verifier"], costs["reasoner"]) == (0, Decimal("0.002"))
    assert calls(found)["verifier"] == 3


@pytest.mark.parametrize("price", [None, PRICE])
def test_without_a_price_or_without_earlier_calls_the_cost_is_unknown(price: Price | None) -> None:
    known = typical() if price is None else UsageMedians()

    found = told(CHAIN, known, price)

    assert found.cost is None


@pytest.mark.conformance("WAVE-11")
def test_time_is_the_longest_chain_and_the_report() -> None:
    # A call of a tool takes 1 s, one of a model 2 s: 3 + 3 + 2, and 2 for the report.
    assert told(CHAIN, typical()).seconds == 10


def test_time_is_all_work_over_the_slots_where_that_is_longer() -> None:
    # Four tool tasks of 3 s and a deduction of 2 s are 14 s of work.
    assert told(WIDE, typical(), slots=1).seconds == 14 + 2
    assert told(WIDE, typical(), slots=4).seconds == 3 + 2 + 2


def test_time_is_unknown_where_a_call_was_never_timed() -> None:
    assert told(CHAIN, typical(None)).seconds is None
    assert told(CHAIN, typical(tools={})).seconds is None


def test_a_tool_that_was_never_called_takes_as_long_as_others_do() -> None:
    assert told(CHAIN, typical(tools={"a.b": 3.0, "a.c": 5.0})).seconds == 6 + 6 + 2 + 2


def test_an_agent_takes_as_many_steps_as_agents_usually_do() -> None:
    agents = plan(agent("T1"), agent("T2", "T1"))

    planned = told(agents, typical(steps=5))
    stepping = told(
        agents, typical(steps=5), agent_horizon=Horizon.STEP, supervise=Supervision.STEP
    )

    assert calls(planned) == {
        "extractor": 8,
        "step_planner": 2,
        "reasoner": 2,
        "synthesiser": 1,
    }
    assert planned.tool_calls == 8
    assert calls(stepping) == {
        "extractor": 8,
        "stepper": 10,
        "assessor": 10,
        "synthesiser": 1,
    }
    assert stepping.seconds is not None
    assert planned.seconds is not None
    assert stepping.seconds > planned.seconds


def test_where_no_agent_has_worked_it_takes_three_steps_and_never_more_than_the_limit() -> None:
    one = plan(agent("T1"))

    assert told(one, typical()).tool_calls == 2
    assert told(one, typical(steps=40), max_agent_steps=4).tool_calls == 3


def test_a_plan_that_has_nothing_left_to_do_takes_nothing() -> None:
    found = told(plan(), typical())

    assert (found.model_calls, found.tool_calls, found.cost, found.seconds) == (0, 0, 0, 0)
