"""Find the two things that a question compares."""

import re

from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.extractive.text.value_candidates import ValueCandidate, proper_names
from holdfast.roles.extractive.text.words_and_sentences import is_content_word, words

_CUES = re.compile(
    r"\b(?:both|same|common|mutual|share[ds]?|either|neither|similar|alike|compared?|between)\b",
    re.IGNORECASE,
)
_OR = re.compile(r"[,?]?\s+or\s+", re.IGNORECASE)
_AND = re.compile(r"\s*,?\s+and\s+", re.IGNORECASE)
_REGION = r"((?:(?!\b(?:what|which|who|whom|that|whose)\b)[^?]){2,120}?)"
_TAIL = (
    r"(?:both|each|in the same|(?:have|has|had|share|of|from|are|were) the same|the same|located|"
    r"situated|native|considered|share|in common|have|had|are|were)\b"
)
_REGIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^\W*(?:are|were|do|did|have|is|was|does|has)\s+(?:both\s+)?{_REGION}\s+{_TAIL}",
        (
            rf"\b(?:what|which)\b(?:\s+[\w'’-]+){{0,5}}?\s+(?:do|did|does|are|is|were|was)\s+(?:both\s+)?"
            rf"{_REGION}\s+{_TAIL}"
        ),
        rf"^\W*{_REGION},?\s+(?:are|were)?\s*{_TAIL}(?=.*\b(?:what|which)\b)",
    )
)
_PEOPLE_OF = re.compile(r"\s+[A-Z]\w+(?:an|ish|ese|ch|i)$")


def find_pair(text: str) -> tuple[str, str] | None:
    """The two things, as written; None if the question compares nothing."""
    two = _joined_by_or(text, _spans(text)) or _in_a_region(text) or _joined_by_and(text)
    if two is None or two[0].lower() == two[1].lower():
        return None
    return two


def _spans(text: str) -> list[ValueCandidate]:
    """Names and quoted titles, without the parts of longer ones."""
    whole = [
        ValueCandidate(found.group(1), ValueKind.WORK, found.start(), found.end())
        for found in re.finditer(r"[\"“]([^\"“”]{2,100})[\"”]", text)
    ]
    for each in sorted(proper_names(text), key=lambda name: name.start - name.end):
        if not any(kept.start < each.end and each.start < kept.end for kept in whole):
            whole.append(each)
    return sorted(whole, key=lambda name: name.start)


def _joined_by_or(text: str, spans: list[ValueCandidate]) -> tuple[str, str] | None:
    """`A or B`."""
    for joint in reversed(list(_OR.finditer(text))):
        two = _around(text, spans, joint)
        if two is not None:
            return two
    return None


def _around(text: str, spans: list[ValueCandidate], joint: re.Match[str]) -> tuple[str, str] | None:
    """The names that stand right before and right after a joint."""
    start, end = joint.span()
    left = [each for each in spans if each.end <= start + 1 and _is_near(text[each.end : start])]
    right = [
        each
        for each in spans
        if each.start >= end - 1 and _ARTICLES.fullmatch(text[end : each.start].strip(' "“'))
    ]
    if left and right:
        return _with_tail(text, left[-1], start), _without_adjective(text, right[0])
    return None


_ARTICLES = re.compile(
    r"(?:(?:that|those|the one|the ones)(?: (?:of|at|in|on|from|by))?)?\s*(?:the|an?)?",
    re.IGNORECASE,
)


def _is_near(gap: str) -> bool:
    return len(gap) < 20 and not any(is_content_word(each.text) for each in words(gap))


def _with_tail(text: str, left: ValueCandidate, end: int) -> str:
    tail = text[left.end : end].strip(' ,?"”')
    return f"{left.value} {tail}" if tail and tail[0].isalnum() else left.value


def _without_adjective(text: str, span: ValueCandidate) -> str:
    """The name without an adjective that belongs to the words after it."""
    follows = text[span.end : span.end + 2].strip()
    if follows.isalpha() and follows.islower() and len(span.value.split()) > 2:
        return _PEOPLE_OF.sub("", span.value)
    return span.value


def _in_a_region(text: str) -> tuple[str, str] | None:
    """The two halves of `are A and B both` or `what do A and B share`, cut most evenly."""
    for pattern in _REGIONS:
        found = pattern.search(text)
        if found and " and " in found.group(1) and proper_names(found.group(1)):
            region = re.sub(
                r"^(?:both|the)\s+", "", found.group(1).strip(" ,"), flags=re.IGNORECASE
            )
            return _split_evenly(region)
    return None


def _split_evenly(region: str) -> tuple[str, str]:
    parts = region.split(" and ")
    cuts = [(" and ".join(parts[:at]), " and ".join(parts[at:])) for at in range(1, len(parts))]
    one, two = min(cuts, key=lambda cut: abs(len(cut[0].split()) - len(cut[1].split())))
    return one.strip(" ,"), re.sub(r"^the\s+", "", two.strip(" ,"))


def _joined_by_and(text: str) -> tuple[str, str] | None:
    """`A and B` in a question with a word such as `both`."""
    if not _CUES.search(text):
        return None
    spans = _spans(text)
    for joint in _AND.finditer(text):
        two = _around(text, spans, joint)
        if two is not None:
            return two
    within = next(
        (each for each in spans if " and " in each.value and each.kind is not ValueKind.WORK), None
    )
    return _split_evenly(_without_adjective(text, within)) if within is not None else None
