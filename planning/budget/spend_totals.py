"""Add up the cost of calls by phase, role, task and model."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal

from holdfast.models.budget.spend_breakdown import Bill, Phase, Spend, SpendBreakdown
from holdfast.models.budget.token_prices import Price
from holdfast.planning.budget.role_phases import DEVIATION_ROLES, phase_of

_JOB_TASK = "plan"
"""The name under which calls without a task are listed, such as planning."""


def spend_breakdown(bills: Sequence[Bill]) -> SpendBreakdown:
    """Return all that was spent; a sum with an unknown cost is unknown."""
    order = {phase.value: n for n, phase in enumerate(Phase)}
    by_phase = _group_bills(bills, lambda bill: phase_of(bill.role).value)
    return SpendBreakdown(
        total=sum_bills("total", bills),
        by_phase=tuple(sorted(by_phase, key=lambda spend: order[spend.name])),
        by_role=_group_bills(bills, lambda bill: bill.role),
        by_task=_group_bills(bills, lambda bill: bill.task or _JOB_TASK),
        by_model=_group_bills(bills, lambda bill: bill.model),
    )


def deviation_tokens(bills: Iterable[Bill]) -> dict[str, int]:
    """Return the output tokens spent on deviations, by role (TDP-08)."""
    written = dict.fromkeys(DEVIATION_ROLES, 0)
    for bill in bills:
        if bill.role in written:
            written[bill.role] += bill.output_tokens
    return written


def sum_bills(name: str, bills: Sequence[Bill]) -> Spend:
    """Return the sum of the bills; its cost is None if one of them has none."""
    costs = [bill.cost for bill in bills]
    known = [cost for cost in costs if cost is not None]
    return Spend(
        name=name,
        calls=sum(bill.calls for bill in bills),
        input_tokens=sum(bill.input_tokens for bill in bills),
        output_tokens=sum(bill.output_tokens for bill in bills),
        cost=sum(known, Decimal(0)) if len(known) == len(costs) else None,
    )


def cost_of(price: Price | None, input_tokens: int, output_tokens: int) -> Decimal | None:
    """Return the cost of these tokens, or None if the price is unknown."""
    if price is None:
        return None
    return price.of(input_tokens=input_tokens, output_tokens=output_tokens)


def _group_bills(bills: Sequence[Bill], key: Callable[[Bill], str]) -> tuple[Spend, ...]:
    groups: dict[str, list[Bill]] = {}
    for bill in bills:
        groups.setdefault(key(bill), []).append(bill)
    return tuple(sum_bills(name, groups[name]) for name in sorted(groups))
