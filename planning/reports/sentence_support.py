"""Find quotes, numbers and names in a sentence that the cited passages do not contain.

These faults need no model: an invented quote, or a number or name that the passages do not
contain. Whether the passages support the meaning of the sentence is the sentence checker's work.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from holdfast.planning.reports.name_forms import KnownNames
from holdfast.planning.reports.number_spellings import (
    computed_numbers,
    derived_numbers,
    months_in,
    numbers_in,
    unknown_numbers,
    unshown_signs,
)

_HEDGE = " (the sources suggest this, but do not fully state it)"
"""What ends a sentence that its evidence supports only in part."""

_QUOTED = re.compile(r"“([^”]*)”|\"([^\"]*)\"")
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|\n)[\s\"“‘'(\[]*")
_NUMBERED = re.compile(r"\.\s*\d")
_SENTENCE_OPENERS = (
    "a an the this that these those it its he she they his her their we our i in on at by for from "
    "with without of to as and but or nor so yet if when while where who whose which what how why "
    "after before since until during between among under over both each all some most many few no "
    "not only there here two three one however although though because according"
)
"""Words that begin a sentence: their capital letter does not make them a name."""


def unsupported_parts(
    sentence: str,
    passages: Sequence[str],
    known: Iterable[str] = (),
    *,
    quotes_shown: Iterable[str] = (),
    searched: str = "passage that is cited",
) -> list[str]:
    """Return quotes, numbers and names that neither the passages nor the known texts contain.

    `passages` are the whole cited texts with their titles; `known` are other texts that the
    sentence may use: the question and the found values. A sentence without citation may use only
    the known texts. Sums and differences of the numbers in `quotes_shown` are supported as well,
    of several numbers where the sentence names them all. A fault names what was `searched`, one of
    the passages.
    """
    folded = [_folded(passage) for passage in passages]
    if _is_titled_quote(_folded(sentence), folded):
        return []
    # The known texts as one: all sentences share them, and what they name is found once.
    texts = (*passages, " \n ".join(known))
    allowed = (*folded, _folded(texts[-1]))
    own_words, quotes = _separate_quotes(sentence)
    faults = [
        f"{quote[:80]!r} is in quotation marks and stands in no {searched}"
        for quote in quotes
        if not any(_folded(quote) in text for text in allowed)
    ]
    shown = derived_numbers(quotes_shown).union(*map(numbers_in, allowed))
    computed = computed_numbers(own_words, shown) if folded else frozenset()
    unknown = unknown_numbers(own_words, shown | computed)
    unknown += unshown_signs(own_words, allowed) if folded else []
    faults += [f"the number {number} is in no {searched}" for number in unknown]
    names, months = KnownNames(texts), frozenset[str]().union(*map(months_in, texts))
    faults += [
        f"the name {name!r} is in no {searched}"
        for name in dict.fromkeys(_names(own_words))
        if not names.has(name) and name.casefold() not in months
    ]
    return faults


def hedged(sentence: str) -> str:
    """Return the sentence with the note that its evidence supports it only in part."""
    bare = sentence.rstrip().removesuffix(".")
    return f"{bare}{_HEDGE}."


def is_hedged(sentence: str) -> bool:
    """True if the sentence is one that `hedged` changed."""
    return sentence.endswith(f"{_HEDGE}.")


def without_hedge(sentence: str) -> str:
    """Return a sentence that `hedged` changed as it was, without its final period."""
    return sentence.removesuffix(f"{_HEDGE}.")


def is_quotation(sentence: str, passages: Sequence[str]) -> bool:
    """True if one passage contains the whole sentence, quoted or in the same words."""
    folded = [_folded(passage) for passage in passages]
    if _is_titled_quote(_folded(sentence), folded):
        return True
    own_words, quotes = _separate_quotes(sentence)
    label, has_colon, rest = own_words.partition(":")
    said = rest if has_colon and quotes else own_words
    bare = _folded(said).strip(" .,;:")
    for passage in folded:
        if all(_folded(quote) in passage for quote in quotes) and bare in passage:
            return bool(quotes or bare) and _folded(label).strip(" .") in passage
    return False


def _is_titled_quote(sentence: str, passages: Sequence[str]) -> bool:
    """True if the sentence is one quote, with or without its title in front."""
    if not sentence.endswith("”"):
        return False
    starts = [match.end() for match in re.finditer(r"(?:^|: )“", sentence)]
    parts = ((sentence[: at - 1].removesuffix(": "), sentence[at:-1].strip()) for at in starts)
    return any(
        quote and title in passage and quote in passage
        for title, quote in parts
        for passage in passages
    )


def _separate_quotes(sentence: str) -> tuple[str, list[str]]:
    """Split a sentence into its text without quotes, and its quotes."""
    quotes = [match.group(1) or match.group(2) or "" for match in _QUOTED.finditer(sentence)]
    return _QUOTED.sub(" ", sentence), [quote for quote in quotes if quote.strip()]


@lru_cache(maxsize=64)  # all sentences of a report share the known texts
def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _names(text: str) -> list[str]:
    """Return capitalised names; a sentence's first word counts only if another name follows."""
    starts = {match.end() for match in _SENTENCE_START.finditer(text)}
    found = list(_WORD.finditer(text))
    names = []
    for at, match in enumerate(found):
        word = match.group()
        if not word[0].isupper() or len(word) < 2 or _is_number_sign(text, match):
            continue
        is_first = match.start() in starts
        if not is_first or (
            _opens_name(text, found, at) and word.casefold() not in _SENTENCE_OPENERS.split()
        ):
            names.append(word)
    return names


def capitalised_words(text: str) -> frozenset[str]:
    """Return the words with a capital letter, casefolded: names, and some first words."""
    found = (match.group() for match in _WORD.finditer(text))
    words = {word.casefold() for word in found if word[0].isupper() and len(word) > 1}
    return frozenset(words.difference(_SENTENCE_OPENERS.split()))


def _is_number_sign(text: str, match: re.Match[str]) -> bool:
    """True for the `No` of `No. 61`."""
    return match.group() == "No" and _NUMBERED.match(text, match.end()) is not None


def _opens_name(text: str, found: Sequence[re.Match[str]], at: int) -> bool:
    """True if the first word of a sentence is followed by another capitalised word."""
    if at + 1 >= len(found):
        return False
    between = text[found[at].end() : found[at + 1].start()]
    return between == " " and found[at + 1].group()[0].isupper()
