"""Find quotes, numbers and names in a sentence that the cited passages do not contain.

These faults need no model: an invented quote, or a number or name that the passages do not
contain. Whether the passages support the meaning of the sentence is the sentence checker's work.
"""

import re
from collections.abc import Iterable, Sequence

HEDGE_PREFIX = "The sources suggest, without fully stating it: "
"""What stands before a sentence that its evidence supports only in part."""

_QUOTED = re.compile(r"“([^”]*)”|\"([^\"]*)\"")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?")
_ANY_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|\n)[\s\"“‘'(\[]*")
_POSSESSIVE = re.compile(r"['’]s?$")
_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_SENTENCE_OPENERS = (
    "a an the this that these those it its he she they his her their we our i in on at by for from "
    "with without of to as and but or nor so yet if when while where who whose which what how why "
    "after before since until during between among under over both each all some most many few no "
    "not there here two three one however although though because according"
)
"""Words that begin a sentence: their capital letter does not make them a name."""


def unsupported_parts(
    sentence: str, passages: Sequence[str], known: Iterable[str] = ()
) -> list[str]:
    """Return quotes, numbers and names that neither the passages nor the known texts contain.

    `passages` are the whole cited texts with their titles; `known` are other texts that the
    sentence may use: the question and the found values. A sentence without citation may use only
    the known texts.
    """
    folded = [_folded(passage) for passage in passages]
    if _is_titled_quote(_folded(sentence), folded):
        return []
    allowed = " \n ".join((*folded, *(_folded(text) for text in known)))
    own_words, quotes = _separate_quotes(sentence)
    faults = [
        f"{quote[:80]!r} is in quotation marks and stands in no passage that is cited"
        for quote in quotes
        if _folded(quote) not in allowed
    ]
    unknown = _numbers(_NUMBER, own_words) - _numbers_in(allowed)
    faults += [f"the number {number} is in no passage that is cited" for number in sorted(unknown)]
    words = _words(allowed)
    faults += [
        f"the name {name!r} is in no passage that is cited"
        for name in dict.fromkeys(_names(own_words))
        if not _is_known(name, words)
    ]
    return faults


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


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _numbers(pattern: re.Pattern[str], text: str) -> set[str]:
    return {_canonical_number(match.group()) for match in pattern.finditer(text)}


def _canonical_number(number: str) -> str:
    """Return the number in one spelling: 1,200.50 becomes 1200.5."""
    whole, point, part = number.replace(",", "").partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if point and part else "")


def _numbers_in(text: str) -> set[str]:
    """Return the numbers of a text, including numbers written as words."""
    spelled = {
        str(n) for n, word in enumerate(_NUMBER_WORDS.split()) if re.search(rf"\b{word}\b", text)
    }
    return _numbers(_ANY_NUMBER, text) | spelled


def _words(text: str) -> frozenset[str]:
    whole = {_POSSESSIVE.sub("", match.group()) for match in _WORD.finditer(text)}
    return frozenset(whole | {part for word in whole for part in re.split(r"['’-]", word)})


def _names(text: str) -> list[str]:
    """Return capitalised names; a sentence's first word counts only if another name follows."""
    starts = {match.end() for match in _SENTENCE_START.finditer(text)}
    found = list(_WORD.finditer(text))
    names = []
    for at, match in enumerate(found):
        word = match.group()
        if not word[0].isupper() or len(word) < 2:
            continue
        is_first = match.start() in starts
        if not is_first or (
            _opens_name(text, found, at) and word.casefold() not in _SENTENCE_OPENERS.split()
        ):
            names.append(word)
    return names


def _opens_name(text: str, found: Sequence[re.Match[str]], at: int) -> bool:
    """True if the first word of a sentence is followed by another capitalised word."""
    if at + 1 >= len(found):
        return False
    between = text[found[at].end() : found[at + 1].start()]
    return between == " " and found[at + 1].group()[0].isupper()


def _is_known(name: str, words: frozenset[str]) -> bool:
    folded = _POSSESSIVE.sub("", name.casefold())
    return folded in words or all(part in words for part in re.split(r"['’-]", folded) if part)
