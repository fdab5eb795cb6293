"""Read the age from which ended jobs are removed."""

import re
from datetime import timedelta

from holdfast.models.errors import BadInput

_AGE = re.compile(r"([1-9][0-9]{0,4})([dh])")


def parse_age(text: str) -> timedelta:
    """Return the age: days or hours.

    Raises:
        BadInput: the text is no age.
    """
    match = _AGE.fullmatch(text)
    if match is None:
        raise BadInput(f"an age is days or hours, such as 30d or 12h, not {text[:40]!r}")
    number = int(match[1])
    return timedelta(days=number) if match[2] == "d" else timedelta(hours=number)
