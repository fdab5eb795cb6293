"""Tests for the message of a call for which the budget has no room."""

from decimal import Decimal
from types import SimpleNamespace

import pytest

from holdfast.models.budget.token_prices import Price
from holdfast.models.calls.call_records import ReservationRequest
from holdfast.models.calls.model_requests import ModelRequest
from holdfast.models.errors import BudgetReached
from holdfast.storage.ledger.reservation_check import check_reservation

REQUEST = ModelRequest(model="m", role="planner", messages=())
PRICE = Price(input=Decimal(60), output=Decimal(240))
ROW = {
    "id": None,
    "kept": Decimal("0.15"),
    "asked_tokens": 2_860,
    "asked_cost": Decimal("0.3516"),
    "most_tokens": None,
    "most_cost": Decimal("0.2"),
    "spent_cost": Decimal(0),
    "spent_tokens": 0,
    "held_cost": Decimal(0),
    "held_tokens": 0,
}


IN_MONEY = (
    "the next call (planner) may take 2,860 tokens (0.3516 in money), and the budget has no room "
    "for it: 0 of 0.2 in money, 15% of it kept for the report"
)
IN_TOKENS = (
    "the next call (planner) may take 2,860 tokens, and the budget has no room for it: 0 of 2,000 "
    "tokens, 15% of it kept for the report"
)
TOKENS_ONLY = {"most_cost": None, "most_tokens": 2_000, "asked_cost": None}


@pytest.mark.parametrize(("changes", "message"), [({}, IN_MONEY), (TOKENS_ONLY, IN_TOKENS)])
def test_a_call_without_room_says_what_a_new_limit_must_have_room_for(
    changes: dict[str, object], message: str
) -> None:
    expense = ReservationRequest(input_tokens=1_860, price=PRICE)

    with pytest.raises(BudgetReached) as raised:
        check_reservation(REQUEST, SimpleNamespace(**(ROW | changes)), expense)

    assert str(raised.value) == message
