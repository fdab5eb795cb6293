"""Read the amounts that people write into forms."""

import re
from collections.abc import Mapping
from decimal import Decimal

from pydantic import JsonValue

from holdfast.models.errors import BadInput
from holdfast.models.strategies.job_strategy import Strategy

_TOO_MUCH = 10**12
_NUMBER = re.compile(r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+", re.ASCII)
"""Commas stand only before groups of three digits: `0,50` would be read as 50."""


def positive_amount(what: str, text: str) -> float | None:
    """Return the number in a field of a form; None if the field is empty.

    Raises:
        BadInput: the text is no number above 0.
    """
    given = text.strip()
    if not given:
        return None
    value = float(given.replace(",", "")) if _NUMBER.fullmatch(given) else 0
    if not 0 < value < _TOO_MUCH:
        raise BadInput(
            f"{what} is {given[:40]!r}; give a number above 0, with a point before a fraction "
            "and commas only before groups of three digits, or leave the field empty"
        )
    return value


def positive_count(what: str, text: str) -> int | None:
    """Return the whole number in a field of a form; None if the field is empty.

    Raises:
        BadInput: the text is no whole number above 0.
    """
    value = positive_amount(what, text)
    if value is None:
        return None
    if not value.is_integer():
        raise BadInput(f"{what} is {text.strip()[:40]!r}; give a whole number above 0")
    return int(value)


def short_number(text: str, most_digits: int) -> int | None:
    """Return the number that the text is in ASCII digits; None if it is none, or is too long."""
    is_number = text.isascii() and text.isdigit() and len(text) <= most_digits
    return int(text) if is_number else None


def limit_settings(max_cost: str, max_tokens: str = "") -> dict[str, JsonValue]:
    """Return the settings of a job's limits in the fields of a form; empty fields set none.

    Raises:
        BadInput: a limit is no number above 0.
    """
    limits = {
        "max_cost": positive_amount("the limit in money", max_cost),
        "max_tokens": positive_count("the limit in tokens", max_tokens),
    }
    return {name: limit for name, limit in limits.items() if limit is not None}


def changed_limits(limits: Mapping[str, JsonValue], strategy: Strategy) -> dict[str, JsonValue]:
    """Return the limits that differ from those of the job, which a form shows filled in."""
    return {name: limit for name, limit in limits.items() if limit != getattr(strategy, name)}


def check_raised(limits: Mapping[str, JsonValue], strategy: Strategy) -> None:
    """Check that a job which is at its limit has room again under these limits.

    Raises:
        BadInput: a limit is not above that of the job.
    """
    for name, limit in limits.items():
        before = getattr(strategy, name)
        if before is not None and Decimal(str(limit)) <= Decimal(str(before)):
            where = "tokens" if name == "max_tokens" else "money"
            raise BadInput(
                f"the limit in {where} is {plain_number(before)} already, so the job has no room "
                f"under {plain_number(limit)}; give a higher limit, or leave the field empty"
            )


def plain_number(value: object) -> str:
    """The number without an exponent, so that a form takes back what it showed."""
    return f"{Decimal(str(value)):f}"
