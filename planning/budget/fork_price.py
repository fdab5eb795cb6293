"""Compute what a fork may cost: what the same calls took in the forked job."""

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal

from holdfast.models.budget.spend_breakdown import Bill, Phase
from holdfast.models.budget.token_prices import PriceList
from holdfast.models.frozen_model import Frozen
from holdfast.planning.budget.role_phases import phase_of
from holdfast.planning.budget.spend_totals import cost_of

_AFTERWARDS = (Phase.VERIFICATION, Phase.SYNTHESIS)
"""The results are verified and reported again; calls whose request stays the same are free."""


class ForkAmount(Frozen):
    """Model calls, tokens and money, at most."""

    calls: int = 0
    tokens: int = 0
    cost: Decimal | None = Decimal(0)
    """None: a price is unknown."""


def fork_amount(
    bills: Sequence[Bill], rerun: Collection[str] | None, model: str | None, prices: PriceList
) -> ForkAmount:
    """Return what the calls of the tasks that run again took, with verification and report.

    `rerun` None means the whole job. With another `model`, its prices count, else what was paid.
    """
    own = [bill for bill in bills if phase_of(bill.role) is not Phase.COMPARISON]
    chosen = [bill for bill in own if rerun is None or is_made_again(bill, rerun)]
    return sum_amounts(chosen, model, prices)


def is_made_again(bill: Bill, rerun: Collection[str]) -> bool:
    """True if a task that runs again, or a step of it, made the calls, or they come after tasks."""
    return phase_of(bill.role) in _AFTERWARDS or bill_of(bill, rerun) is not None


def bill_of(bill: Bill, tasks: Iterable[str]) -> str | None:
    """Return the task among `tasks` that the calls were made for, or None."""
    for name in tasks:
        if bill.task == name or bill.task.startswith(f"{name}."):
            return name
    return None


def sum_amounts(bills: Sequence[Bill], model: str | None, prices: PriceList) -> ForkAmount:
    """Return the sum of the bills at what was paid, or at the prices of another model."""
    costs = [
        bill.cost
        if model is None
        else cost_of(prices.of(model), bill.input_tokens, bill.output_tokens)
        for bill in bills
    ]
    known = [cost for cost in costs if cost is not None]
    return ForkAmount(
        calls=sum(bill.calls for bill in bills),
        tokens=sum(bill.input_tokens + bill.output_tokens for bill in bills),
        cost=sum(known, Decimal(0)) if len(known) == len(costs) else None,
    )
