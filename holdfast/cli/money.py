"""How money, tokens and time are printed; what is not known is said to be unknown, never 0."""

from decimal import Decimal

from models.estimates import Amounts, Comparison

_UNKNOWN = "unknown"
_LEAST = 0.000_001


def money(amount: Decimal | float | None, currency: str) -> str:
    """`0.0123 USD`: two decimals from 1 on, up to six below."""
    if amount is None:
        return _UNKNOWN
    value = float(amount)
    if 0 < value < _LEAST:
        return f"under {_LEAST:.6f} {currency}"
    shown = f"{value:,.2f}" if value == 0 or value >= 1 else f"{value:.6f}".rstrip("0")
    return f"{shown} {currency}"


def number(value: int | None) -> str:
    return _UNKNOWN if value is None else f"{value:,}"


def seconds(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:,.1f} s"


def comparison_lines(both: Comparison, currency: str) -> list[str]:
    """What the job was to take and what it took, planning left out."""
    return [
        f"estimate: {amounts(both.estimated, currency)}",
        f"took:     {amounts(both.actual, currency)}",
    ]


def amounts(of: Amounts, currency: str) -> str:
    calls = f"{of.tool_calls:,} tool + {of.model_calls:,} model calls"
    tokens = f"tokens {number(of.input_tokens)} in, {number(of.output_tokens)} out"
    return f"{calls}, {tokens}, cost {money(of.cost, currency)}, {seconds(of.seconds)}"
