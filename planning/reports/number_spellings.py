"""Read the numbers of a text in their spellings: digits, groups, scales, words, ordinals.

`1,200`, `1 200` and `1200` are one number, as are `7th` and `seventh`, `3 million` and `3,000,000`.
"""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import permutations

_DIGITS = r"\d+(?:,\d{3})*(?:\.\d+)?"
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SCALED = rf"(?P<number>{_DIGITS})(?:[ -](?P<scale>{'|'.join(_SCALES)})\b)?"
_CLAIM = re.compile(rf"(?<![\w.,]){_SCALED}", re.IGNORECASE)
_ANY = re.compile(_SCALED, re.IGNORECASE)
_SPACED = re.compile("(?<![\\w.,])\\d{1,3}(?:[ \u00a0\u202f]\\d{3})+(?!\\d)")
_ROMAN = re.compile(r"\b(?=[ivx])(x{0,3})(ix|iv|v?i{0,3})\b", re.IGNORECASE)

_UNIT_LINE = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS_LINE = "twenty thirty forty fifty sixty seventy eighty ninety"
_UNITS, _TENS = _UNIT_LINE.split(), _TENS_LINE.split()
_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth"}
_ORDINALS |= {"nine": "ninth", "twelve": "twelfth"}
_MOST_DERIVED_FROM = 12
_MOST_TERMS = 6
_LAST_DAY = 31
_KEPT_TEXTS = 64
"""Texts whose numbers are kept: the passages that neighbouring sentences of a report cite."""


def _ordinal(word: str) -> str:
    return _ORDINALS.get(word) or f"{word.removesuffix('y')}{'ie' if word[-1] == 'y' else ''}th"


def _spelled() -> Iterator[tuple[str, int]]:
    yield from (("dozen", 12), ("hundred", 100), *_SCALES.items())
    for value, word in enumerate(_UNITS):
        yield from ((word, value), (_ordinal(word), value))
    for tens, word in enumerate(_TENS, start=2):
        yield from ((word, 10 * tens), (_ordinal(word), 10 * tens))
        for unit in range(1, 10):
            small = _UNITS[unit]
            yield f"{word}-{small}", 10 * tens + unit
            yield f"{word}-{_ordinal(small)}", 10 * tens + unit


_VALUES = dict(_spelled())
_SPELLED = re.compile(
    rf"\b(?:(?:{'|'.join(_TENS)})[- ])?(?:{'|'.join(sorted(_VALUES, key=len, reverse=True))})\b",
    re.IGNORECASE,
)


def unknown_numbers(sentence: str, known: frozenset[str]) -> list[str]:
    """Return the numbers in digits that are not among the known ones."""
    for match in _SPACED.finditer(sentence):
        joined = re.sub(r"\s", "", match.group())
        if canonical_number(joined) in known:
            sentence = sentence.replace(match.group(), " ")
    found = ((_forms(match), match) for match in _CLAIM.finditer(sentence))
    return sorted({canonical_number(each["number"]) for forms, each in found if not forms & known})


@lru_cache(maxsize=_KEPT_TEXTS)
def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers of a text, including numbers that are written as words."""
    digits = {form for match in _ANY.finditer(text) for form in _forms(match)}
    joined = {canonical_number(re.sub(r"\s", "", m.group())) for m in _SPACED.finditer(text)}
    words = {str(value) for match in _SPELLED.finditer(text) for value in _word_values(match)}
    return frozenset(digits | joined | words)


def derived_numbers(quotes: Iterable[str]) -> frozenset[str]:
    """Return the sums and differences of two numbers of the quotes, and ages in whole years.

    Plain arithmetic over what is quoted is shown: 750 and 817 show 67.
    """
    found = sorted({Decimal(each) for quote in quotes for each in numbers_in(quote)})
    if len(found) > _MOST_DERIVED_FROM:  # so many numbers would allow any
        return frozenset()
    derived = {one + other for one, other in permutations(found, 2)}
    derived |= {one - other for one, other in permutations(found, 2) if one > other}
    # The birthday of a year's person may come after the day that counts.
    derived |= {
        one - other - 1 for one, other in permutations(found, 2) if one > other and _is_year(other)
    }
    return frozenset(canonical_number(f"{each:f}") for each in derived)


def computed_numbers(sentence: str, shown: frozenset[str]) -> frozenset[str]:
    """Return what the shown numbers of the sentence give: the sum, or the largest less the others.

    A sentence that says what it computes from needs no quote for the result: £187,600 less £162,600
    and £1,500 show £23,500. None is left out, so £26,500 is not shown. Days and years compute
    nothing.
    """
    amounts = (match for match in _CLAIM.finditer(sentence) if not _is_date_part(match["number"]))
    named = {each for match in amounts for each in _forms(match)} & shown
    terms = sorted((Decimal(each) for each in named), reverse=True)
    if len(terms) > _MOST_TERMS:  # so many numbers would allow any
        return frozenset()
    results = {sum(terms), 2 * terms[0] - sum(terms)} if terms else set()
    return frozenset(canonical_number(f"{each:f}") for each in results if each > 0)


def number_of_word(word: str) -> str | None:
    """Return the number that a word or a Roman numeral stands for; None if it stands for none."""
    value = _VALUES.get(word.casefold())
    if value is None:
        roman = _ROMAN.fullmatch(word)
        value = _roman_value(roman) if roman else None
    return None if value is None else str(value)


def roman_numbers(text: str) -> frozenset[str]:
    """Return the Roman numerals of a text, up to XXXIX, as numbers."""
    return frozenset(str(_roman_value(match)) for match in _ROMAN.finditer(text))


def canonical_number(number: str) -> str:
    """Return the number in one spelling: 1,200.50 becomes 1200.5."""
    whole, point, part = number.replace(",", "").partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if point and part else "")


def _forms(match: re.Match[str]) -> set[str]:
    """The number as it is written and, where a scale follows, multiplied."""
    forms = {canonical_number(match["number"])}
    if match["scale"]:
        scaled = Decimal(match["number"].replace(",", "")) * _SCALES[match["scale"].lower()]
        forms.add(canonical_number(f"{scaled:f}"))
    return forms


def _word_values(match: re.Match[str]) -> Iterator[int]:
    word = match.group().casefold().replace(" ", "-")
    parts = (word, *word.split("-"))
    yield from (_VALUES[each] for each in parts if each in _VALUES)


def _roman_value(match: re.Match[str]) -> int:
    low = match.group(2).lower()
    return 10 * len(match.group(1)) + {"ix": 9, "iv": 4}.get(
        low, 5 * low.startswith("v") + low.count("i")
    )


def _is_year(value: Decimal) -> bool:
    return 1000 <= value <= 2100


def _is_date_part(number: str) -> bool:
    """True for what may be a day or a year; `1,500` is an amount."""
    value = Decimal(number.replace(",", ""))
    return "," not in number and (value <= _LAST_DAY or _is_year(value))
