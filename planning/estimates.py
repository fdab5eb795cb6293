"""What a plan would take, counted from its tasks and from what earlier calls took."""

from collections.abc import Mapping
from decimal import Decimal
from graphlib import TopologicalSorter
from statistics import median

from models.estimates import Estimate, RoleEstimate, Typical, TypicalCall
from models.plan import Plan, TaskStatus
from models.prices import FREE, Price
from models.spending import Tokens
from models.strategy import Strategy
from planning.graph import edges
from planning.spending import cost_of
from planning.workload import Work, after_all, together, work_of

Pricing = Mapping[str, Price | None]
"""The price of each role's model; a role that is not in it is priced as the empty name is."""


def estimate(
    plan: Plan,
    strategy: Strategy,
    typical: Typical,
    spent: Tokens,
    *,
    pricing: Pricing | None = None,
    spent_cost: Decimal | None = None,
) -> Estimate:
    """What the tasks that wait would take: no replan, no second chunk, no correction."""
    waiting = [task for task in plan.live if task.status is TaskStatus.PENDING]
    works = {task.id: work_of(task, strategy, typical.steps) for task in waiting}
    last = after_all(len(waiting), strategy) if waiting else Work(roles={}, tools={})
    all_work = together([*works.values(), last])
    roles = tuple(
        _role(name, count, typical.roles.get(name), _price(pricing or {}, name))
        for name, count in all_work.roles.items()
    )
    return Estimate(
        tool_calls=min(sum(all_work.tools.values()), strategy.max_tool_calls),
        roles=roles,
        spent=spent,
        spent_cost=spent_cost,
        seconds=_seconds(plan, works, last, strategy.slots, typical),
    )


def _price(pricing: Pricing, role: str) -> Price | None:
    return pricing[role] if role in pricing else pricing.get("")


def _role(name: str, calls: int, typical: TypicalCall | None, price: Price | None) -> RoleEstimate:
    if typical is None:
        return RoleEstimate(role=name, calls=calls, cost=Decimal(0) if price == FREE else None)
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
    works: Mapping[str, Work],
    last: Work,
    slots: int,
    typical: Typical,
) -> float | None:
    """The longest chain of tasks, or all of them over the slots if that is longer; the report."""
    own = {task_id: _duration(work, typical) for task_id, work in works.items()}
    ending = _duration(last, typical)
    known = {task_id: took for task_id, took in own.items() if took is not None}
    if ending is None or len(known) < len(own):
        return None
    waits = {name: [n for n in needs if n in own] for name, needs in edges(plan).items()}
    ends: dict[str, float] = {}
    for task_id in TopologicalSorter({name: waits[name] for name in own}).static_order():
        ends[task_id] = known[task_id] + max((ends[need] for need in waits[task_id]), default=0.0)
    chain = max(ends.values(), default=0.0)
    return round(max(chain, sum(known.values()) / slots) + ending, 3)


def _duration(work: Work, typical: Typical) -> float | None:
    """Calls one after the other; None where one of a kind was never timed."""
    any_tool = median(typical.tools.values()) if typical.tools else None
    times = [(_of_role(typical, role), n) for role, n in work.roles.items()]
    times += [(typical.tools.get(tool, any_tool), n) for tool, n in work.tools.items()]
    known = [took * count for took, count in times if took is not None]
    return sum(known) if len(known) == len(times) else None


def _of_role(typical: Typical, role: str) -> float | None:
    seen = typical.roles.get(role)
    return None if seen is None else seen.seconds
