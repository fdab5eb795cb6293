"""Read an age, as of jobs that are pruned, and a size."""

import re
from contextlib import suppress
from datetime import timedelta

from pydantic import TypeAdapter

from holdfast.models.errors import BadInput

_AGE = re.compile(r"([1-9][0-9]{0,4})([dh])")
_LEAST, _MOST = timedelta(hours=1), timedelta(days=99_999)
_ISO = TypeAdapter(timedelta)
_SIZE = re.compile(r"([0-9]{1,6})(MB|GB|TB)")
_BYTES = {"MB": 10**6, "GB": 10**9, "TB": 10**12}


def parse_age(text: str) -> timedelta:
    """Return the age: days or hours, or a duration of ISO 8601 as the API answers it.

    Raises:
        BadInput: the text is no age.
    """
    match = _AGE.fullmatch(text)
    if match is not None:
        number = int(match[1])
        return timedelta(days=number) if match[2] == "d" else timedelta(hours=number)
    if text.startswith("P"):
        with suppress(ValueError):
            age = _ISO.validate_python(text)
            if _LEAST <= age <= _MOST:
                return age
    raise BadInput(f"an age is days or hours, at least 1h, such as 30d or 12h, not {text[:40]!r}")


def parse_size(text: str) -> int:
    """Return the size in bytes.

    Raises:
        BadInput: the text is no size.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise BadInput(f"a size is a number with MB, GB or TB, such as 20GB, not {text[:40]!r}")
    return int(match[1]) * _BYTES[match[2]]
