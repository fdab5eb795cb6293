"""Read the amounts that people write into forms."""

from holdfast.models.errors import BadInput

_TOO_MUCH = 10**12


def positive_amount(what: str, text: str) -> float | None:
    """Return the number in a field of a form; None if the field is empty.

    Raises:
        BadInput: the text is no number above 0.
    """
    if not text.strip():
        return None
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = 0
    if not 0 < value < _TOO_MUCH:
        raise BadInput(f"{what} is {text[:40]!r}; give a number above 0, or leave it empty")
    return value
