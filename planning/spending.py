"""Adds up what calls cost: by phase, role, task and model, each sum of the same bills."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal

from models.prices import Price
from models.spending import Bill, Breakdown, Phase, Spend
from planning.phases import DEVIATION_ROLES, phase_of

_OF_THE_JOB = "plan"
"""What calls that belong to no task are listed under: planning is one."""


def breakdown(bills: Sequence[Bill]) -> Breakdown:
    """All that was spent; a sum that has an unknown cost in it is unknown."""
    order = {phase.value: n for n, phase in enumerate(Phase)}
    by_phase = _by(bills, lambda bill: phase_of(bill.role).value)
    return Breakdown(
        total=added_up("total", bills),
        by_phase=tuple(sorted(by_phase, key=lambda spend: order[spend.name])),
        by_role=_by(bills, lambda bill: bill.role),
        by_task=_by(bills, lambda bill: bill.task or _OF_THE_JOB),
        by_model=_by(bills, lambda bill: bill.model),
    )


def deviations(bills: Iterable[Bill]) -> dict[str, int]:
    """The output tokens that went into handling deviations, by role (TDP-08)."""
    written = dict.fromkeys(DEVIATION_ROLES, 0)
    for bill in bills:
        if bill.role in written:
            written[bill.role] += bill.output_tokens
    return written


def added_up(name: str, bills: Sequence[Bill]) -> Spend:
    """The sum of these bills; its cost is None where one of theirs is."""
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
    """What so many tokens would cost; None where the price is unknown."""
    if price is None:
        return None
    return price.of(input_tokens=input_tokens, output_tokens=output_tokens)


def _by(bills: Sequence[Bill], key: Callable[[Bill], str]) -> tuple[Spend, ...]:
    groups: dict[str, list[Bill]] = {}
    for bill in bills:
        groups.setdefault(key(bill), []).append(bill)
    return tuple(added_up(name, groups[name]) for name in sorted(groups))
