"""Map adjectives such as `long` to measures such as length; check units of amounts."""

import re

from holdfast.roles.extractive.text.words_and_sentences import stem

_ADJECTIVES = {
    "long": "length",
    "tall": "height",
    "high": "height",
    "wide": "width",
    "far": "distance",
    "deep": "depth",
    "old": "age",
    "heavy": "weight",
    "thick": "thickness",
}
_COMPARED = {
    "longer": "length",
    "longest": "length",
    "taller": "height",
    "tallest": "height",
    "higher": "height",
    "highest": "height",
    "shorter": "height",
    "wider": "width",
    "widest": "width",
    "deeper": "depth",
    "deepest": "depth",
    "farther": "distance",
    "heavier": "weight",
    "heaviest": "weight",
    "lighter": "weight",
    "cheaper": "price",
}
_PAID = """
price cost rent fee salary budget revenue turnover profit penalty pay pays paid charge charges owe
owes claim claims compensation tariff excess earn earns estimate
"""
_MONEY = frozenset(_PAID.split())
_CURRENCY = re.compile(r"[$€£¥]\s?\d|\b(?:pence|pounds?|euros?|dollars?|cents?)$", re.IGNORECASE)
_DURING = re.compile(r"\s*(?:did|do|does|has|have|had|can|will|may)\b", re.IGNORECASE)
_LENGTH = (
    r"(?:(?:kilo|centi|milli)?met(?:er|re)s?|km|cm|mm|m|miles?|mi|feet|foot|ft|inch(?:es)?|in|"
    r"yards?|yd|leagues?|fathoms?|light[- ]years?|nautical)"
)
_TIME = r"(?:seconds?|minutes?|mins?|hours?|days?|nights?|weeks?|months?|years?|decades?|centuries)"
_WEIGHT = r"(?:kilograms?|kilos?|kg|grams?|g|tons?|tonnes?|pounds?|lbs?|ounces?|oz|stone)"
_UNITS = {
    "length": rf"(?:{_LENGTH}|{_TIME}|pages?|words?)",
    "height": _LENGTH,
    "width": _LENGTH,
    "distance": _LENGTH,
    "depth": _LENGTH,
    "thickness": _LENGTH,
    "duration": _TIME,
    "notice": _TIME,
    "age": rf"(?:{_TIME}|old)",
    "weight": _WEIGHT,
}
_ENDS_IN_UNIT = {
    noun: re.compile(rf"\d[\s-]?{unit}$|^\w+[\s-]{unit}$", re.IGNORECASE)
    for noun, unit in _UNITS.items()
}


def measure_noun(adjective: str, after: str) -> str:
    """The noun that `how` with the adjective asks for; empty when it asks for a count."""
    if adjective.lower() == "long" and _DURING.match(after):
        return "duration"
    return _ADJECTIVES.get(adjective.lower(), "")


def comparison_noun(text: str) -> str:
    """The noun of the measure by which a question compares, as `height` for `taller`."""
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in _COMPARED:
            return _COMPARED[word]
    return ""


def measure_adjective_stems(noun: str) -> frozenset[str]:
    """The stems of the adjectives with which a measure is said: `60 metres tall`."""
    said = {stem(each) for each, measure in _ADJECTIVES.items() if measure == noun}
    return frozenset({*said, stem("long")} if noun == "duration" else said)


def is_money(noun: str) -> bool:
    """True if the noun, or the verb of `how much`, asks for an amount of money."""
    return noun.lower() in _MONEY


def is_amount_of_money(value: str) -> bool:
    """True if an amount says its currency."""
    return _CURRENCY.search(value) is not None


def has_unit(value: str, noun: str) -> bool:
    """True if an amount has a unit of what is measured; true of what has no units of its own."""
    pattern = _ENDS_IN_UNIT.get(noun)
    return pattern is None or pattern.search(value) is not None
