"""Format an amount of money for people; an unknown amount is `unknown`."""

import math
from decimal import Decimal

_MIN_SHOWN = 0.000_001
_MIN_DECIMALS, _MAX_DECIMALS = 2, 6


def format_money(amount: Decimal | float | None, currency: str) -> str:
    """`0.0123 USD`: two decimals from 1 on, below as many as three digits need, up to six."""
    if amount is None:
        return "unknown"
    value = float(amount)
    if 0 < value < _MIN_SHOWN:
        return f"under {_MIN_SHOWN:.{_MAX_DECIMALS}f} {currency}"
    whole, point, decimals = f"{value:,.{_decimals(value)}f}".partition(".")
    kept = decimals[:_MIN_DECIMALS] + decimals[_MIN_DECIMALS:].rstrip("0")
    return f"{whole}{point}{kept} {currency}"


def _decimals(value: float) -> int:
    if value == 0 or abs(value) >= 1:
        return _MIN_DECIMALS
    return min(_MAX_DECIMALS, _MIN_DECIMALS - math.floor(math.log10(abs(value))))
