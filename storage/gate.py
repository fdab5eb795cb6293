"""What the gate is told of a call, and what it says of one that it does not let pass."""

from datetime import timedelta
from typing import Any

from models.calls import CallKey, Expense
from models.completions import ModelRequest
from models.errors import BudgetHeld, BudgetReached
from storage.constant import Value

_UNTIL_ASKED_AGAIN = timedelta(seconds=1)


def priced(expense: Expense) -> dict[str, Value]:
    """The values that the gate's statement needs; money goes as text, so that none is lost."""
    each = (expense.input_cost, expense.output_price)
    input_cost, output_price = (None if amount is None else str(amount) for amount in each)
    return {
        "input_tokens": expense.input_tokens, "output_tokens": expense.output_tokens,
        "input_cost": input_cost, "output_price": output_price, "is_report": expense.is_report,
    }  # fmt: skip


def check_room(key: CallKey, request: ModelRequest, row: Any, expense: Expense) -> None:  # noqa: ANN401 - a named tuple of columns
    """Let pass what was announced.

    Raises:
        BudgetHeld: it was not, because of what calls under way hold.
        BudgetReached: it was not; the message says of which cap how much is used.
    """
    if row.id is not None:
        return
    if row.most_cost is not None and expense.price is None:
        raise BudgetReached(
            f"the price of model {request.model!r} is unknown, so max_cost cannot be kept; name it "
            f'in holdfast.toml under [prices."{request.model}"] and start the worker anew, or '
            f"`holdfast resume {key.job_id} --set max_cost=none`"
        )
    message = (
        f"the next call ({request.role}) may take {row.asked_tokens:,} tokens, and the budget has "
        f"no room for it: {'; '.join(_used(row, is_report=expense.is_report))}"
    )
    if _fits_alone(row, is_report=expense.is_report):
        raise BudgetHeld(message, after=_UNTIL_ASKED_AGAIN)
    raise BudgetReached(message)


def _fits_alone(row: Any, *, is_report: bool) -> bool:  # noqa: ANN401 - a named tuple of columns
    """Whether there would be room if nothing were under way."""
    amounts = (
        (row.most_tokens, row.spent_tokens, row.asked_tokens),
        (row.most_cost, row.spent_cost, row.asked_cost),
    )
    return all(
        most is None or spent + asked <= most * (1 - row.kept) or (is_report and spent < most)
        for most, spent, asked in amounts
    )


def _used(row: Any, *, is_report: bool) -> list[str]:  # noqa: ANN401 - a named tuple of columns
    kept = "" if is_report or not row.kept else f", {row.kept:.0%} of it kept for the report"
    lines = []
    if row.most_tokens is not None:
        under_way = f" and {row.held_tokens:,} under way" if row.held_tokens else ""
        lines.append(f"{row.spent_tokens:,}{under_way} of {row.most_tokens:,} tokens{kept}")
    if row.most_cost is not None:
        under_way = f" and {row.held_cost:.4f} under way" if row.held_cost else ""
        lines.append(f"{row.spent_cost:.4f}{under_way} of {row.most_cost} in money{kept}")
    return lines
