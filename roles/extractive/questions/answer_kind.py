"""Find the question word, the kind of the answer, and the noun that names the answer."""

import re

from holdfast.roles.extractive.text.measure_units import measure_noun
from holdfast.roles.extractive.text.noun_kinds import ValueKind, kind_of_noun
from holdfast.roles.extractive.text.words_and_sentences import is_content_word, words

QUESTION_WORD = re.compile(r"\b(who|whom|whose|what|which|when|where|how|why)\b", re.IGNORECASE)
HOW_MUCH = re.compile(
    r"\bhow (many|much|old|long|tall|far|large|big|high|wide|often|deep|heavy|thick)\b",
    re.IGNORECASE,
)


def answer_kind_and_noun(text: str) -> tuple[ValueKind, str]:
    """The type of the answer, and the noun phrase that names it."""
    counted = HOW_MUCH.search(text)
    if counted:
        after = text[counted.end() :]
        return ValueKind.NUMBER, measure_noun(counted.group(1), after) or _price_noun(
            counted, after
        ) or " ".join(_phrase(after)[:2])
    found = find_question_word(text)
    if found is None:
        return ValueKind.SENTENCE, ""
    wh, rest = found.group(1).lower(), text[found.end() :]
    simple = {
        "who": ValueKind.PERSON,
        "whom": ValueKind.PERSON,
        "when": ValueKind.DATE,
        "where": ValueKind.PLACE,
    }
    if wh in simple:
        return simple[wh], _who_is(rest) if wh == "who" else ""
    if wh in ("why", "how"):
        return ValueKind.SENTENCE, ""
    return _asked_noun(rest)


def _who_is(rest: str) -> str:
    """`Who was the wife of X?` asks for a wife."""
    found = re.match(r"\s*(?:is|are|was|were)\s+(?:the|an?)\s(.*)", rest, re.IGNORECASE | re.DOTALL)
    phrase = _phrase(found.group(1)) if found else []
    return " ".join(phrase) if phrase and kind_of_noun(phrase[-1]) is ValueKind.PERSON else ""


def _price_noun(counted: re.Match[str], after: str) -> str:
    is_paid = counted.group(1).lower() == "much" and _PAYS.search(after)
    return is_paid.group(1).lower() if is_paid else ""


_PAYS = re.compile(
    r"\b(cost|price|rent|pays?|paid|charges?|owes?|claims?)\b(?! (?:attention|tribute))",
    re.IGNORECASE,
)


_PAYS_LAST = re.compile(
    r"\b(cost|pay|charge|owe|earn)\b(?=\W*$|\s+(?:per|a|an|each|every|for|in|from|since)\b)",
    re.IGNORECASE,
)
"""`What does X pay per week?` asks for an amount."""


def find_question_word(text: str) -> re.Match[str] | None:
    """The question word; not a word that joins a clause, as in `the man who`."""
    every = list(QUESTION_WORD.finditer(text))
    for found in every:
        before = text[: found.start()].rstrip(' "“')
        if not before or before[-1] in ":?." or found.group(1)[0].isupper():
            return found
    asking = [found for found in every if _is_asking(text, found)]
    return asking[0] if asking else every[0] if every else None


def _is_asking(text: str, found: re.Match[str]) -> bool:
    wh, after = found.group(1).lower(), text[found.end() :].strip(' ?."')
    if wh in ("what", "how"):
        return True
    if wh in ("which", "whose"):
        return any(kind_of_noun(each) for each in _phrase(text[found.end() :]))
    return not after or text[: found.start()].rstrip().endswith((" by", " as", " for", " with"))


def _asked_noun(rest: str) -> tuple[ValueKind, str]:
    if re.match(r"\s*(?:does|do|did)\b", rest, re.IGNORECASE):
        paid = _PAYS_LAST.search(rest)
        return (ValueKind.NUMBER, paid.group(1).lower()) if paid else (ValueKind.ANY, "")
    rest = re.sub(r"^\s*(?:is|are|was|were|'s)\s+(?:the|an?)?\s*", " ", rest, flags=re.IGNORECASE)
    rest = re.sub(
        r"^\s*(?:the\s+)?(?:(?:full|given|birth|last|first|real|stage)\s+)?"
        r"(?:names?|title|term)\s+(?:of|for)\s+(?:the|an?|this|that)?\s*",
        " ",
        rest,
        flags=re.IGNORECASE,
    )
    phrase = _phrase(rest)
    for word in reversed(phrase):
        kind = kind_of_noun(word)
        if kind is not None:
            return kind, " ".join(phrase[: phrase.index(word) + 1])
    return ValueKind.ANY, " ".join(phrase[:3])


_ENDING = """
is are was were did does do has had have of in on at by for from with that which who whom where
when to and or a an per would will can could may might must shall should as whose
part if about also between
"""
_PHRASE_ENDS = frozenset(_ENDING.split())


def _phrase(rest: str) -> list[str]:
    """The words of the noun phrase right after the question word."""
    phrase: list[str] = []
    cut = re.split(r"[,;:?.!()\"“”]", rest.strip(), maxsplit=1)[0]
    for word in words(cut):
        if word.text.lower() in _PHRASE_ENDS or len(phrase) == 5:
            break
        if is_content_word(word.text) or word.text.lower() in ("first", "most"):
            phrase.append(word.text)
    return phrase
