"""Read the numbers of a text in their spellings: digits, groups, scales, words, ordinals.

`1,200`, `1 200` and `1200` are one number, as are `7th` and `seventh`, `3 million` and `3,000,000`.
"""

import re
from calendar import month_name
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import combinations

from holdfast.models.text.sentences import sentence_spans

_DIGITS = r"\d+(?:,\d{3})*(?:\.\d+)?"
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SCALED = rf"(?P<number>{_DIGITS})(?:[ -](?P<scale>{'|'.join(_SCALES)})\b)?"
_CLAIM = re.compile(rf"(?<![\w.,]){_SCALED}", re.IGNORECASE)
_ANY = re.compile(_SCALED, re.IGNORECASE)
_SPACED = re.compile("(?<![\\w.,])\\d{1,3}(?:[ \u00a0\u202f]\\d{3})+(?!\\d)")
MONTHS = [name.casefold() for name in month_name if name]
"""The English names of the months, in small letters."""
_MONTH = rf"(?:{'|'.join(f'{month[:3]}(?:{month[3:]})?' for month in MONTHS)})\b\.?"
_NUMBERED_DATE = re.compile(
    r"(?<![\d/.-])(?:\d{4}-(\d{1,2})-\d{1,2}|(\d{1,2})([/.])(\d{1,2})\3\d{4})(?![\d/-])"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"{_NUMBERED_DATE.pattern}|\b{_DAY}(?: of)? {_MONTH}|\b{_MONTH} {_DAY}\b(?!,\d{{3}})",
    re.IGNORECASE,
)
"""A date, or the day and month of one."""
_YEAR = re.compile(
    rf"(?<![\d,.$€£])(?:1\d{{3}}|20\d\d|2100)(?![\d,]\d|\d|\.\d| (?:{'|'.join(_SCALES)}))"
)
_PERCENT = re.compile(rf"(?<![\w.,]){_DIGITS} ?(?:%|per ?cent\b)", re.IGNORECASE)
_SAYS_PERCENT = re.compile(
    "[%％٪]|cent\\b|pct|proz|proc|проц|百分|パーセント|퍼센트", re.IGNORECASE
)
_NEGATIVE = re.compile(rf"(?<![^\s(])[-−]{_DIGITS}")
_SAYS_NEGATIVE = re.compile(
    "(?<![^\\s(|,;])[-−–] ?\\d|minus|negat|below|under|loss|lost|less|defici|f[ae]ll|down|decreas|"
    "declin|drop|moins|menos|meno|unter|минус|零下|マイナス",
    re.IGNORECASE,
)
"""A minus, or a word that may stand for one; a text with none of them shows no negative number."""
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
_SPAN = re.compile(
    rf"(?<![\w.,-])(?:(?P<digits>\d{{1,4}})|(?P<words>{_SPELLED.pattern}))[- ]years?\b",
    re.IGNORECASE,
)
"""A number of years, which leads from one year to another: 150 years, twenty-one years."""
_NUMBER_BEFORE = re.compile(rf"(?:\d|{_SPELLED.pattern})(?:[- ]|,? and )\Z", re.IGNORECASE)
"""What makes a number the end of another one: the `and ` before `fifty`, after `one hundred`."""
_LONGEST_BEFORE = 30
"""Characters before a number in which the rest of the number stands."""


def unknown_numbers(sentence: str, known: frozenset[str]) -> list[str]:
    """Return the numbers in digits that are not among the known ones."""
    for match in _SPACED.finditer(sentence):
        joined = re.sub(r"\s", "", match.group())
        if canonical_number(joined) in known:
            sentence = sentence.replace(match.group(), " ")
    found = ((_forms(match), match) for match in _CLAIM.finditer(sentence))
    return sorted({canonical_number(each["number"]) for forms, each in found if not forms & known})


def unshown_signs(sentence: str, texts: Sequence[str]) -> list[str]:
    """Return percentages of the sentence if no text has any, and negative numbers likewise."""
    found: list[str] = []
    for said, shown in ((_PERCENT, _SAYS_PERCENT), (_NEGATIVE, _SAYS_NEGATIVE)):
        claims = said.findall(sentence)
        if claims and not any(shown.search(text) for text in texts):
            found += claims
    return found


@lru_cache(maxsize=_KEPT_TEXTS)
def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers of a text, including numbers that are written as words."""
    digits = {form for match in _ANY.finditer(text) for form in _forms(match)}
    joined = {canonical_number(re.sub(r"\s", "", m.group())) for m in _SPACED.finditer(text)}
    words = {str(value) for match in _SPELLED.finditer(text) for value in _word_values(match)}
    return frozenset(digits | joined | words)


def derived_numbers(quotes: Iterable[str]) -> frozenset[str]:
    """Return the sums and differences of two amounts of the quotes, ages, and years by their spans.

    Plain arithmetic over what is quoted is shown: 750 and 817 show 67. Dates, years and the word
    `one` are not amounts. Two years show the age between them, and the sentence `150 years old
    in 2007` shows 1857.
    """
    texts = [*quotes]
    undated = [_DATE.sub(" ", text) for text in texts]
    amounts = {
        Decimal(each)
        for text in undated
        for each in numbers_in(_SPELLED.sub(_in_digits, _YEAR.sub(" ", text)))
    }
    years = {int(year[0]) for text in texts for year in _YEAR.finditer(text)}
    if len(amounts) + len(years) > _MOST_DERIVED_FROM:  # so many numbers would allow any
        return frozenset()
    derived = {one + other for one, other in combinations(amounts, 2)}
    derived |= {abs(one - other) for one, other in combinations(amounts, 2)}
    # The birthday of a year's person may come after the day that counts.
    ages = {abs(one - other) for one, other in combinations(years, 2)}
    derived |= {Decimal(age - off) for age in ages for off in (0, 1)}
    derived |= {Decimal(year) for text in texts for year in _years_by_spans(text)}
    return frozenset(canonical_number(f"{each:f}") for each in derived if each > 0)


def months_in(text: str) -> frozenset[str]:
    """Return the months of dates in digits, such as 2019-03-04, as names in small letters.

    Either of the first two numbers of 12/03/1990 may be the month.
    """
    found = (group for match in _NUMBERED_DATE.finditer(text) for group in match.group(1, 2, 4))
    numbers = {int(each) for each in found if each}
    return frozenset(MONTHS[number - 1] for number in numbers if 1 <= number <= len(MONTHS))


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


def _years_by_spans(text: str) -> Iterator[int]:
    """Yield the years to which a span of years leads from a year of the same sentence."""
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        years = [int(year[0]) for year in _YEAR.finditer(sentence)]
        spans = [*_spans_of_years(sentence)] if years else []
        yield from (year + sign * span for year in years for span in spans for sign in (-1, 1))


def _spans_of_years(sentence: str) -> Iterator[int]:
    """Yield the lengths of the spans of years in a sentence, such as that of `one year`.

    Only whole numbers of up to four digits that stand by themselves: `1.5 years` are no five.
    """
    for match in _SPAN.finditer(sentence):
        before = sentence[max(0, match.start() - _LONGEST_BEFORE) : match.start()]
        if not _NUMBER_BEFORE.search(before):
            words = (match["words"] or "").casefold().replace(" ", "-")
            yield int(match["digits"]) if match["digits"] else _VALUES[words]


def _in_digits(match: re.Match[str]) -> str:
    """Return the amount that is written in words, in digits: `twenty-one` is not 20, 1 and 21.

    A scale stays, since it belongs to the number before it. The `one` of `one of the 750` counts
    nothing, and is left out.
    """
    word = match.group().casefold().replace(" ", "-")
    if word in _SCALES or word not in _VALUES:
        return match.group()
    return " " if word == "one" else f" {_VALUES[word]} "


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
