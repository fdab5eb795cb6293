"""The word that asks, and from it the type of the answer and the noun that names it."""

import re

from roles.extractive.lexicon import Kind, kind_of_noun
from roles.extractive.measures import measured
from roles.extractive.text import is_content, words

QUESTION_WORD = re.compile(r"\b(who|whom|whose|what|which|when|where|how|why)\b", re.IGNORECASE)
HOW_MUCH = re.compile(
    r"\bhow (many|much|old|long|tall|far|large|big|high|wide|often|deep|heavy|thick)\b",
    re.IGNORECASE,
)


def asked_of(text: str) -> tuple[Kind, str]:
    """The type of the answer, and the noun phrase that names it."""
    counted = HOW_MUCH.search(text)
    if counted:
        after = text[counted.end() :]
        return Kind.NUMBER, measured(counted.group(1), after) or _paid(counted, after) or " ".join(
            _phrase(after)[:2]
        )
    found = asking_word(text)
    if found is None:
        return Kind.SENTENCE, ""
    wh, rest = found.group(1).lower(), text[found.end() :]
    simple = {"who": Kind.PERSON, "whom": Kind.PERSON, "when": Kind.DATE, "where": Kind.PLACE}
    if wh in simple:
        return simple[wh], _who_is(rest) if wh == "who" else ""
    if wh in ("why", "how"):
        return Kind.SENTENCE, ""
    return _asked_noun(rest)


def _who_is(rest: str) -> str:
    """`Who was the wife of X?` asks for a wife."""
    found = re.match(r"\s*(?:is|are|was|were)\s+(?:the|an?)\s(.*)", rest, re.IGNORECASE | re.DOTALL)
    phrase = _phrase(found.group(1)) if found else []
    return " ".join(phrase) if phrase and kind_of_noun(phrase[-1]) is Kind.PERSON else ""


def _paid(counted: re.Match[str], after: str) -> str:
    is_paid = counted.group(1).lower() == "much" and _PAYS.search(after)
    return is_paid.group(1).lower() if is_paid else ""


_PAYS = re.compile(r"\b(cost|price|rent)\b", re.IGNORECASE)


def asking_word(text: str) -> re.Match[str] | None:
    """The word that asks: not one that only joins a clause, as `the man who` does."""
    every = list(QUESTION_WORD.finditer(text))
    for found in every:
        before = text[: found.start()].rstrip(' "“')
        if not before or before[-1] in ":?." or found.group(1)[0].isupper():
            return found
    asking = [found for found in every if _asks(text, found)]
    return asking[0] if asking else every[0] if every else None


def _asks(text: str, found: re.Match[str]) -> bool:
    wh, after = found.group(1).lower(), text[found.end() :].strip(' ?."')
    if wh in ("what", "how"):
        return True
    if wh in ("which", "whose"):
        return any(kind_of_noun(each) for each in _phrase(text[found.end() :]))
    return not after or text[: found.start()].rstrip().endswith((" by", " as", " for", " with"))


def _asked_noun(rest: str) -> tuple[Kind, str]:
    if re.match(r"\s*(?:does|do|did)\b", rest, re.IGNORECASE):
        return Kind.ANY, ""
    rest = re.sub(r"^\s*(?:is|are|was|were|'s)\s+(?:the|an?)?\s*", " ", rest, flags=re.IGNORECASE)
    rest = re.sub(
        r"^\s*(?:the\s+)?(?:(?:full|given|birth|last|first|real|stage)\s+)?"
        r"(?:names?|title|term)\s+(?:of|for)\s+(?:the|an?|this|that)?\s*",
        " ", rest, flags=re.IGNORECASE,
    )  # fmt: skip
    phrase = _phrase(rest)
    for word in reversed(phrase):
        kind = kind_of_noun(word)
        if kind is not None:
            return kind, " ".join(phrase[: phrase.index(word) + 1])
    return Kind.ANY, " ".join(phrase[:3])


_ENDING = """
is are was were did does do has had have of in on at by for from with that which who whom where
when to and or would will can could as whose part if about also between
"""
_PHRASE_ENDS = frozenset(_ENDING.split())


def _phrase(rest: str) -> list[str]:
    """The words of the noun phrase right after the question word."""
    phrase: list[str] = []
    cut = re.split(r"[,;:?.!()\"“”]", rest.strip(), maxsplit=1)[0]
    for word in words(cut):
        if word.text.lower() in _PHRASE_ENDS or len(phrase) == 5:
            break
        if is_content(word.text) or word.text.lower() in ("first", "most"):
            phrase.append(word.text)
    return phrase
