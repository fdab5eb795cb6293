"""Read dates and amounts out of text for comparison."""

import re

from holdfast.roles.extractive.text.words_and_sentences import words

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: float(number) for number, word in enumerate(_COUNTED.split())}
_MULTIPLIERS = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_LONGEST = 2_000


def first_date(value: str) -> tuple[float, ...] | None:
    """Year, month and day of the first date in a text; what it does not say counts as 0."""
    text = value[:_LONGEST].lower()
    iso = re.search(r"\b(\d{4})-(\d{2})-(\d{2})\b", text)
    if iso:
        return tuple(float(part) for part in iso.groups())
    year = re.search(r"\b(1[0-9]{3}|20[0-9]{2})\b", text)
    if year is None:
        return None
    near = text[max(0, year.start() - 22) : year.start()]
    month = next((at for at, each in enumerate(_MONTHS, 1) if re.search(rf"\b{each}", near)), 0)
    day = re.search(r"\b(\d{1,2})(?!\d)", near) if month else None
    return float(year.group()), float(month), float(day.group(1)) if day else 0.0


def first_amount(value: str) -> tuple[float, ...] | None:
    """The first amount of a text."""
    text = value[:_LONGEST]
    found = re.search(r"\d[\d,]{0,20}(?:\.\d{1,10})?", text)
    if found is None:
        spelled = (_NUMBERS.get(each.text.lower()) for each in words(text))
        return next(((each,) for each in spelled if each is not None), None)
    after = text[found.end() : found.end() + 12].lower()
    times = next((_MULTIPLIERS[each] for each in _MULTIPLIERS if each in after), 1.0)
    return (float(found.group().replace(",", "")) * times,)
