"""The two things that a question compares: `A or B`, `both A and B`, `do A and B share`."""

import re

from roles.extractive.candidates import Candidate, names
from roles.extractive.lexicon import Kind
from roles.extractive.text import is_content, words

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
        (rf"\b(?:what|which)\b(?:\s+[\w'’-]+){{0,5}}?\s+(?:do|did|does|are|is|were|was)\s+(?:both\s+)?"
        rf"{_REGION}\s+{_TAIL}"),
        rf"^\W*{_REGION},?\s+(?:are|were)?\s*{_TAIL}(?=.*\b(?:what|which)\b)",
    )
)  # fmt: skip
_SMALL = (
    re.compile(
        r"\bboth\s+(?:the\s+)?(.{2,60}?)\s+and\s+(?:the\s+)?(.{2,60}?)"
        r"(?=\s+(?:are|is|were|was|in|located|from|have|has|had|share|born|both)\b|\s*[?,]|$)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:,|:|\bbetween|\bfirst|\bolder|\bnewer|\bearlier|\blater|\byounger|\blarger|\bbigger)"
        r"[:,]?\s+(?:the\s+)?([^,?:]{2,60}?)\s*,?\s+or\s+(?:the\s+)?([^,?]{2,60}?)\s*\?",
        re.IGNORECASE,
    ),
)  # fmt: skip
_PEOPLE_OF = re.compile(r"\s+[A-Z]\w+(?:an|ish|ese|ch|i)$")


def pair(text: str) -> tuple[str, str] | None:
    """The two things, as written; nothing when the question compares none."""
    two = _told_apart(text, _spans(text)) or _in_a_region(text) or _joined(text) or _small(text)
    if two is None or two[0].lower() == two[1].lower():
        return None
    return two


def _spans(text: str) -> list[Candidate]:
    """Names and quoted titles, without the parts of longer ones."""
    whole = [
        Candidate(found.group(1), Kind.WORK, found.start(), found.end())
        for found in re.finditer(r"[\"“]([^\"“”]{2,100})[\"”]", text)
    ]
    for each in sorted(names(text), key=lambda name: name.start - name.end):
        if not any(kept.start < each.end and each.start < kept.end for kept in whole):
            whole.append(each)
    return sorted(whole, key=lambda name: name.start)


def _told_apart(text: str, spans: list[Candidate]) -> tuple[str, str] | None:
    """`A or B`."""
    for joint in reversed(list(_OR.finditer(text))):
        two = _around(text, spans, joint)
        if two is not None:
            return two
    return None


def _around(text: str, spans: list[Candidate], joint: re.Match[str]) -> tuple[str, str] | None:
    """The names that stand right before and right after a joint."""
    start, end = joint.span()
    left = [each for each in spans if each.end <= start + 1 and _is_near(text[each.end : start])]
    right = [
        each for each in spans
        if each.start >= end - 1 and _ARTICLES.fullmatch(text[end : each.start].strip(' "“'))
    ]  # fmt: skip
    if left and right:
        return _with_tail(text, left[-1], start), _named(text, right[0])
    return None


_ARTICLES = re.compile(
    r"(?:(?:that|those|the one|the ones)(?: (?:of|at|in|on|from|by))?)?\s*(?:the|an?)?",
    re.IGNORECASE,
)


def _is_near(gap: str) -> bool:
    return len(gap) < 20 and not any(is_content(each.text) for each in words(gap))


def _with_tail(text: str, left: Candidate, end: int) -> str:
    tail = text[left.end : end].strip(' ,?"”')
    return f"{left.value} {tail}" if tail and tail[0].isalnum() else left.value


def _named(text: str, span: Candidate) -> str:
    """The name without an adjective that belongs to the words after it."""
    follows = text[span.end : span.end + 2].strip()
    if follows.isalpha() and follows.islower() and len(span.value.split()) > 2:
        return _PEOPLE_OF.sub("", span.value)
    return span.value


def _in_a_region(text: str) -> tuple[str, str] | None:
    """`are A and B both`, `what do A and B share`: cut where the halves are most even."""
    for pattern in _REGIONS:
        found = pattern.search(text)
        if found and " and " in found.group(1) and names(found.group(1)):
            region = re.sub(
                r"^(?:both|the)\s+", "", found.group(1).strip(" ,"), flags=re.IGNORECASE
            )
            one, two = _even(region)
            return _bare(one), _bare(two)
    return None


def _bare(side: str) -> str:
    """`towers of the A` and `A made by` are A: what is asked of it is said elsewhere."""
    return _BESIDE_NAME.sub("", side) if names(_BESIDE_NAME.sub("", side)) else side


_BESIDE_NAME = re.compile(
    r"^(?:(?:the )?[a-z]+s? (?:of|at|in) (?:the )?)(?=[A-Z])"
    r"|(?<=\w) (?:[a-z]+ed|made|built|born|held|cast)(?: (?:by|in|at|from))?$"
)


def _even(region: str) -> tuple[str, str]:
    parts = region.split(" and ")
    cuts = [(" and ".join(parts[:at]), " and ".join(parts[at:])) for at in range(1, len(parts))]
    one, two = min(cuts, key=lambda cut: abs(len(cut[0].split()) - len(cut[1].split())))
    return one.strip(" ,"), re.sub(r"^the\s+", "", two.strip(" ,"))


def _joined(text: str) -> tuple[str, str] | None:
    """`both A and B`, where a word says that two things are meant."""
    if not _CUES.search(text):
        return None
    spans = _spans(text)
    for joint in _AND.finditer(text):
        two = _around(text, spans, joint)
        if two is not None:
            return two
    within = next(
        (each for each in spans if " and " in each.value and each.kind is not Kind.WORK), None
    )
    return _even(_named(text, within)) if within is not None else None


def _small(text: str) -> tuple[str, str] | None:
    """The same, of things that are not written with capitals."""
    for pattern in _SMALL:
        found = pattern.search(text)
        if found:
            return found.group(1).strip(), found.group(2).strip()
    return None
