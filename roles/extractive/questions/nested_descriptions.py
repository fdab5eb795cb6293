"""Find the thing that a question describes: `the woman who portrayed X`."""

import re
from typing import NamedTuple

from holdfast.roles.extractive.questions.answer_kind import find_question_word
from holdfast.roles.extractive.text.noun_kinds import kind_of_noun
from holdfast.roles.extractive.text.value_candidates import proper_names
from holdfast.roles.extractive.text.words_and_sentences import is_content_word, stem, words

_DETERMINER = r"\b(?:the|an?|this|that|its?|his|her|their)"
_NOUN = (
    r"((?:(?!(?:who|that|which|whose|where|of|by|in|and|or|is|was|to|the)\b)[\w’-]+ ){0,4}?"
    r"[\w’-]+),?"
)
_CUE = (
    r"(?:who|that|which|whose|where|(?:in|on|for|from|by|at|of|to) (?:which|whom)|of|by|from|"
    r"directed|written|starring|featuring|named|called|known|born|owned|founded|published|located|"
    r"based|used|played|portrayed|produced|performed|created|recorded|released|made|hosted|held|"
    r"with|for|in|on|at|behind|responsible)"
)
_INNER = re.compile(rf"{_DETERMINER} {_NOUN} ({_CUE} .+)", re.IGNORECASE)
_LATE = re.compile(rf"{_DETERMINER} {_NOUN}$", re.IGNORECASE)
_OWNED = re.compile(r"\b((?:[A-Z][\w.-]* ?){1,5})['’]s? ((?:[a-z][\w-]+ ){0,2}[a-z][\w-]+)")


class NestedDescription(NamedTuple):
    """A described thing, its noun, and what the question asks about it."""

    inner: str = ""
    noun: str = ""
    outer: str = ""


def find_nested(text: str, noun: str) -> NestedDescription:
    """The description inside the question; empty if the question names everything."""
    asks = find_question_word(text)
    at = asks.start() if asks is not None else 0
    head = stem(noun.split()[-1]) if noun else ""
    if len(text[:at].split()) > 3:
        return _before_asking(text, at)
    return _after_asking(text, at, head) or _possessive(text, head) or NestedDescription()


def _after_asking(text: str, at: int, head: str) -> NestedDescription | None:
    """`What was held by [the woman who portrayed X]?`."""
    start = at
    while (found := _INNER.search(text, start)) is not None:
        noun, start = _without_participle(found.group(1)), found.start() + 1
        inner = text[found.start(1) :].strip(" ?.")
        outer = text[: found.start()].strip(" ?.,")
        last = words(noun)[-1].text
        if last[0].isupper() or stem(last) == head or not is_content_word(last):
            continue
        if not _has_name(found.group(2)):
            continue
        inner = _without_back_reference(inner)
        if not _says_something(outer) or _OPEN_ENDED.search(outer):
            inner, rest = _at_last_name(inner)
            outer = f"{outer} {rest}".strip(" ?.,")
        if _says_something(outer):
            return NestedDescription(inner, noun, outer)
    return None


def _without_back_reference(inner: str) -> str:
    """`designer of X in the post that he took up`: the clause with the pronoun describes no X."""
    found = _BACK_REFERENCE.search(inner)
    if found is None or not _has_name(inner[: found.start()]):
        return inner
    return inner[: found.start()]


_BACK_REFERENCE = re.compile(
    r" (?:in|as|at|on|to|from|of|for) (?:the|an?) (?:[a-z][\w’-]* ){1,4}?"
    r"(?:(?:that|which|whom|where|when) )?(?:he|she|they)\b"
)
_OPEN_ENDED = re.compile(r"\b(?:is|are|was|were|do|does|did|has|have|had|will|can)$", re.IGNORECASE)
"""`In what year did [the man who ...] leave?`: what is asked goes on after the description."""
_PASSIVE = re.compile(r"\s*(?:is|are|was|were|had|has)(?: \w+ed| \w+en| made| built| held| set)\b")


def _before_asking(text: str, at: int) -> NestedDescription:
    """`X was produced by [a singer] who died in which year?`: described first, then asked."""
    told = text[:at].rstrip(" ,")
    found = None
    for cue in re.finditer(rf"[ ,]({_CUE})\b", told, re.IGNORECASE):
        before = _LATE.search(told[: cue.start()].rstrip(" ,"))
        if before and not words(before.group(1))[-1].text[0].isupper():
            found = (before, cue)
    if found is None:
        return NestedDescription()
    before, cue = found
    noun, rest = _without_participle(before.group(1)), told[cue.start() :]
    named = [each.end for each in proper_names(rest)]
    if named:
        end = cue.start() + max(named)
        return NestedDescription(
            told[before.start(1) : end].strip(), noun, text[end:].strip(' ?.,"')
        )
    is_bare = rest.strip(" ,").lower() in ("of", "about", "like")
    if is_bare or not _has_name(told[: before.start()]):
        return NestedDescription()
    cut = before.start(1) + len(noun)
    return NestedDescription(told[:cut].strip(" ,"), noun, text[cut:].strip(" ?.,"))


def _without_participle(noun: str) -> str:
    """`shipyard located` is a shipyard."""
    kept = noun.split()
    while len(kept) > 1 and _PARTICIPLE.fullmatch(kept[-1]):
        kept.pop()
    return " ".join(kept)


_PARTICIPLE = re.compile(r"\w+(?:ed|ing)|built|born|held|known|best|which|who|took", re.IGNORECASE)


def _at_last_name(inner: str) -> tuple[str, str]:
    """`the leader of X work before`: the description ends with its last name."""
    end = max((each.end for each in proper_names(inner)), default=len(inner))
    passive = _PASSIVE.match(inner, end)
    if passive is not None and _says_something(inner[passive.end() :]):
        end = passive.end()
    return inner[:end], inner[end:]


def _possessive(text: str, head: str) -> NestedDescription | None:
    """`X's husband`, where what is asked is something else."""
    for found in _OWNED.finditer(text):
        noun = found.group(2).split()[0]
        if kind_of_noun(noun) is None or stem(noun) == head:
            continue
        outer = f"{text[: found.start()]} {text[found.start(2) + len(noun) :]}"
        return NestedDescription(
            f"{noun} of {found.group(1).strip()}", noun, " ".join(outer.split())
        )
    return None


def _has_name(text: str) -> bool:
    return (
        bool(proper_names(text)) or '"' in text or any(each.text.isdigit() for each in words(text))
    )


def _says_something(outer: str) -> bool:
    return any(is_content_word(each.text) for each in words(outer))
