"""Format an amount of money for people; an unknown amount is `unknown`."""

from decimal import Decimal

_MIN_SHOWN = 0.000_001


def format_money(amount: Decimal | float | None, currency: str) -> str:
    """`0.0123 USD`: two decimals from 1 on, up to six below."""
    if amount is None:
        return "unknown"
    value = float(amount)
    if 0 < value < _MIN_SHOWN:
        return f"under {_MIN_SHOWN:.6f} {currency}"
    shown = f"{value:,.2f}" if value == 0 or value >= 1 else f"{value:.6f}".rstrip("0")
    return f"{shown} {currency}"
