"""Estimate the calls, tokens, money and time of a plan from the medians of earlier calls."""

from collections.abc import Mapping
from decimal import Decimal
from graphlib import TopologicalSorter
from statistics import median

from holdfast.models.budget.cost_estimates import (
    PlanEstimate,
    RoleEstimate,
    RoleMedians,
    UsageMedians,
)
from holdfast.models.budget.spend_breakdown import Tokens
from holdfast.models.budget.token_prices import FREE_PRICE, Price
from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.planning.budget.expected_calls import (
    ExpectedCalls,
    calls_of_task,
    closing_calls,
    sum_calls,
)
from holdfast.planning.budget.spend_totals import cost_of
from holdfast.planning.plans.plan_graph import known_dependencies

RolePrices = Mapping[str, Price | None]
"""The price of each role's model; the empty name is the price of all other roles."""


def estimate_plan(
    plan: Plan,
    strategy: Strategy,
    typical: UsageMedians,
    spent: Tokens,
    *,
    pricing: RolePrices | None = None,
    spent_cost: Decimal | None = None,
) -> PlanEstimate:
    """Estimate the pending tasks without replans, further chunks or corrected answers."""
    waiting = [task for task in plan.live if task.status is TaskStatus.PENDING]
    works = {task.id: calls_of_task(task, strategy, typical.steps) for task in waiting}
    # Where an opening loop answers, its sentences are the report.
    planned = sum(not task.is_opening for task in waiting)
    last = closing_calls(planned, strategy) if planned else ExpectedCalls(roles={}, tools={})
    all_work = sum_calls([*works.values(), last])
    roles = tuple(
        _role(name, count, typical.roles.get(name), _price(pricing or {}, name))
        for name, count in all_work.roles.items()
    )
    return PlanEstimate(
        tool_calls=min(sum(all_work.tools.values()), strategy.max_tool_calls),
        roles=roles,
        spent=spent,
        spent_cost=spent_cost,
        seconds=_seconds(plan, works, last, strategy.slots, typical),
    )


def _price(pricing: RolePrices, role: str) -> Price | None:
    return pricing[role] if role in pricing else pricing.get("")


def _role(name: str, calls: int, typical: RoleMedians | None, price: Price | None) -> RoleEstimate:
    if typical is None:
        return RoleEstimate(
            role=name, calls=calls, cost=Decimal(0) if price == FREE_PRICE else None
        )
    taken, given = calls * typical.input_tokens, calls * typical.output_tokens
    return RoleEstimate(
        role=name,
        calls=calls,
        input_tokens=taken,
        output_tokens=given,
        seen=typical.seen,
        cost=cost_of(price, taken, given),
        seconds=None if typical.seconds is None else round(calls * typical.seconds, 3),
    )


def _seconds(
    plan: Plan,
    works: Mapping[str, ExpectedCalls],
    last: ExpectedCalls,
    slots: int,
    typical: UsageMedians,
) -> float | None:
    """Return the seconds of the longest chain, or of all tasks over the slots, plus the report."""
    own = {task_id: _duration(work, typical) for task_id, work in works.items()}
    ending = _duration(last, typical)
    known = {task_id: took for task_id, took in own.items() if took is not None}
    if ending is None or len(known) < len(own):
        return None
    waits = {
        name: [n for n in needs if n in own] for name, needs in known_dependencies(plan).items()
    }
    ends: dict[str, float] = {}
    for task_id in TopologicalSorter({name: waits[name] for name in own}).static_order():
        ends[task_id] = known[task_id] + max((ends[need] for need in waits[task_id]), default=0.0)
    chain = max(ends.values(), default=0.0)
    return round(max(chain, sum(known.values()) / slots) + ending, 3)


def _duration(work: ExpectedCalls, typical: UsageMedians) -> float | None:
    """Return the seconds of calls in sequence, or None if a kind of call was never timed."""
    any_tool = median(typical.tools.values()) if typical.tools else None
    times = [(_role_seconds(typical, role), n) for role, n in work.roles.items()]
    times += [(typical.tools.get(tool, any_tool), n) for tool, n in work.tools.items()]
    known = [took * count for took, count in times if took is not None]
    return sum(known) if len(known) == len(times) else None


def _role_seconds(typical: UsageMedians, role: str) -> float | None:
    seen = typical.roles.get(role)
    return None if seen is None else seen.seconds
