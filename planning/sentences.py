"""Checks a sentence against the passages it cites, as far as letters and numbers go.

What is found here needs no model's judgement: a quote that nobody wrote, a number or a name that
the passages do not have. Whether the passages mean what the sentence says is another question.
"""

import re
from collections.abc import Iterable, Sequence

_QUOTED = re.compile(r"“([^”]*)”|\"([^\"]*)\"")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?")
_ANY_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|\n)[\s\"“‘'(\[]*")
_POSSESSIVE = re.compile(r"['’]s?$")
_COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_OPENERS = (
    "a an the this that these those it its he she they his her their we our i in on at by for from "
    "with without of to as and but or nor so yet if when while where who whose which what how why "
    "after before since until during between among under over both each all some most many few no "
    "not there here two three one however although though because according"
)
"""Words with which a sentence begins, so that a capital there makes no name of them."""


def faults_of(sentence: str, passages: Sequence[str], known: Iterable[str] = ()) -> list[str]:
    """What the sentence says that neither its passages nor what is known has; empty: nothing.

    `passages` are the whole texts of what is cited, with their titles; `known` is what the
    sentence may use besides: the question, and the values that were found. A sentence that cites
    nothing is held to what is known.
    """
    folded = [_folded(passage) for passage in passages]
    if _is_titled_quote(_folded(sentence), folded):
        return []
    allowed = " \n ".join((*folded, *(_folded(text) for text in known)))
    own_words, quotes = _apart(sentence)
    faults = [
        f"{quote[:80]!r} is in quotation marks and stands in no passage that is cited"
        for quote in quotes
        if _folded(quote) not in allowed
    ]
    unknown = _numbers(_NUMBER, own_words) - _told(allowed)
    faults += [f"the number {number} is in no passage that is cited" for number in sorted(unknown)]
    words = _words(allowed)
    faults += [
        f"the name {name!r} is in no passage that is cited"
        for name in dict.fromkeys(_names(own_words))
        if not _is_known(name, words)
    ]
    return faults


def is_quotation(sentence: str, passages: Sequence[str]) -> bool:
    """Whether all that the sentence says stands in one passage: quoted, or in the same words."""
    folded = [_folded(passage) for passage in passages]
    if _is_titled_quote(_folded(sentence), folded):
        return True
    own_words, quotes = _apart(sentence)
    label, has_colon, rest = own_words.partition(":")
    said = rest if has_colon and quotes else own_words
    bare = _folded(said).strip(" .,;:")
    for passage in folded:
        if all(_folded(quote) in passage for quote in quotes) and bare in passage:
            return bool(quotes or bare) and _folded(label).strip(" .") in passage
    return False


def _is_titled_quote(sentence: str, passages: Sequence[str]) -> bool:
    """Whether it is one quote, under its title or without: what either has of signs is its own."""
    if not sentence.endswith("”"):
        return False
    starts = [match.end() for match in re.finditer(r"(?:^|: )“", sentence)]
    parts = ((sentence[: at - 1].removesuffix(": "), sentence[at:-1].strip()) for at in starts)
    return any(
        quote and title in passage and quote in passage
        for title, quote in parts
        for passage in passages
    )


def _apart(sentence: str) -> tuple[str, list[str]]:
    """The sentence without what it quotes, and the quotes."""
    quotes = [match.group(1) or match.group(2) or "" for match in _QUOTED.finditer(sentence)]
    return _QUOTED.sub(" ", sentence), [quote for quote in quotes if quote.strip()]


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _numbers(pattern: re.Pattern[str], text: str) -> set[str]:
    return {_plain(match.group()) for match in pattern.finditer(text)}


def _plain(number: str) -> str:
    """The number in one spelling: 1,200.50 is 1200.5."""
    whole, point, part = number.replace(",", "").partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if point and part else "")


def _told(text: str) -> set[str]:
    """The numbers of a text, those written as words too."""
    spelled = {str(n) for n, word in enumerate(_COUNTED.split()) if re.search(rf"\b{word}\b", text)}
    return _numbers(_ANY_NUMBER, text) | spelled


def _words(text: str) -> frozenset[str]:
    whole = {_POSSESSIVE.sub("", match.group()) for match in _WORD.finditer(text)}
    return frozenset(whole | {part for word in whole for part in re.split(r"['’-]", word)})


def _names(text: str) -> list[str]:
    """The words with a capital that are names: not the first of a sentence, unless one follows."""
    starts = {match.end() for match in _SENTENCE_START.finditer(text)}
    found = list(_WORD.finditer(text))
    names = []
    for at, match in enumerate(found):
        word = match.group()
        if not word[0].isupper() or len(word) < 2:
            continue
        is_first = match.start() in starts
        if not is_first or (
            _opens_name(text, found, at) and word.casefold() not in _OPENERS.split()
        ):
            names.append(word)
    return names


def _opens_name(text: str, found: Sequence[re.Match[str]], at: int) -> bool:
    """Whether the first word of a sentence is followed by another one with a capital."""
    if at + 1 >= len(found):
        return False
    between = text[found[at].end() : found[at + 1].start()]
    return between == " " and found[at + 1].group()[0].isupper()


def _is_known(name: str, words: frozenset[str]) -> bool:
    folded = _POSSESSIVE.sub("", name.casefold())
    return folded in words or all(part in words for part in re.split(r"['’-]", folded) if part)
