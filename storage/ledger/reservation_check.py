"""Build the budget reservation of a model call, and raise an error if the caps have no room."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from holdfast.models.budget.token_prices import COST_NOT_KEPT
from holdfast.models.calls.call_records import ReservationRequest
from holdfast.models.calls.model_requests import ModelRequest
from holdfast.models.errors import BudgetHeld, BudgetReached
from holdfast.storage.core.hot_path_pool import StatementValue

_RETRY_AFTER = timedelta(seconds=1)


def reservation_values(expense: ReservationRequest) -> dict[str, StatementValue]:
    """Return the values of the reservation statement; money is sent as text to stay exact."""
    each = (expense.input_cost, expense.output_price)
    input_cost, output_price = (None if amount is None else str(amount) for amount in each)
    return {
        "input_tokens": expense.input_tokens,
        "output_tokens": expense.output_tokens,
        "longest_tokens": expense.longest_output_tokens,
        "longer_tokens": max(0, expense.longest_output_tokens - expense.output_tokens),
        "input_cost": input_cost,
        "output_price": output_price,
        "is_report": expense.is_report,
    }


def check_reservation(
    request: ModelRequest,
    row: Any,  # noqa: ANN401 - a named tuple of columns
    expense: ReservationRequest,
) -> None:
    """Raise an error if the call was not announced because the caps have no room.

    Raises:
        BudgetHeld: calls in flight hold the budget that this call needs.
        BudgetReached: the caps are used up; the message names each cap and its use.
    """
    if row.id is not None:
        return
    if row.most_cost is not None and expense.price is None:
        raise BudgetReached(
            f"the price of model {request.model!r} is unknown, so {COST_NOT_KEPT}; name it "
            f'in holdfast.toml under [prices."{request.model}"] and restart the worker, or '
            "take the limit away"
        )
    # Whoever sets another limit has to know what it must have room for.
    asked = _amount(row, row.asked_tokens, row.asked_cost)
    message = (
        f"the next call ({request.role}) may take {asked}, and the "
        f"budget has no room for it: {'; '.join(_usage_lines(row, is_report=expense.is_report))}"
    )
    if _fits_alone(row, is_report=expense.is_report):
        raise BudgetHeld(f"{message}{_allowance(row)}", after=_RETRY_AFTER)
    raise BudgetReached(message)


def _fits_alone(row: Any, *, is_report: bool) -> bool:  # noqa: ANN401 - a named tuple of columns
    """True if the call would fit if no other call were in flight."""
    amounts = (
        (row.most_tokens, row.spent_tokens, row.asked_tokens),
        (row.most_cost, row.spent_cost, row.asked_cost),
    )
    return all(
        most is None or spent + asked <= most * (1 - row.kept) or (is_report and spent < most)
        for most, spent, asked in amounts
    )


def _usage_lines(row: Any, *, is_report: bool) -> list[str]:  # noqa: ANN401 - a named tuple of columns
    kept = "" if is_report or not row.kept else f", {row.kept:.0%} of it kept for the report"
    lines = []
    if row.most_tokens is not None:
        under_way = f" and {row.held_tokens:,} under way" if row.held_tokens else ""
        lines.append(f"{row.spent_tokens:,}{under_way} of {row.most_tokens:,} tokens{kept}")
    if row.most_cost is not None:
        under_way = f" and {_money(row.held_cost)} under way" if row.held_cost else ""
        lines.append(f"{_money(row.spent_cost)}{under_way} of {row.most_cost} in money{kept}")
    return lines


def _allowance(row: Any) -> str:  # noqa: ANN401 - a named tuple of columns
    """Return what the cap must have room for besides, so that a call leaves next to others."""
    if not row.longer_tokens:
        return ""
    longer = _amount(row, row.longer_tokens, row.longer_cost)
    return f"; next to calls under way it must have room for {longer} more, for longer answers"


def _amount(row: Any, tokens: int, cost: Decimal) -> str:  # noqa: ANN401 - a named tuple of columns
    price = "" if row.most_cost is None else f" ({_money(cost)} in money)"
    return f"{tokens:,} tokens{price}"


def _money(amount: Decimal) -> str:
    return f"{amount:.4f}".rstrip("0").rstrip(".")
