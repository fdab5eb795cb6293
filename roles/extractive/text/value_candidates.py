"""Find value candidates in a sentence: names, titles, dates, numbers, descriptions."""

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.roles.extractive.text.english_wordlists import FREQUENCIES, STOPWORDS
from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.extractive.text.words_and_sentences import Word, words

_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December|"
    "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec"
)
_YEAR = r"(?:1[0-9]|20)[0-9]{2}"
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|[nr]d|th)?(?: of)? (?:{_MONTHS})\.?,? {_YEAR}"
    rf"|(?:{_MONTHS})\.? \d{{1,2}}(?:st|[nr]d|th)?,? {_YEAR}"
    rf"|(?:{_MONTHS})\.?,? {_YEAR}|\d{{4}}-\d{{2}}-\d{{2}}"
    rf"|\d{{1,2}}(?:st|[nr]d|th)? (?:{_MONTHS})|(?:{_MONTHS}) \d{{1,2}})\b"
)
_YEARS = re.compile(rf"(?<![\d,.]){_YEAR}s?(?![\d,]\d|\d)")
_NUMBER_WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fifteen|twenty|thirty|"
    "forty|fifty|sixty|hundred|thousand|million|billion|dozen|once|twice|first|second|third|fourth|"
    "fifth|sixth|seventh|eighth|ninth|tenth"
)
_NUMBER = re.compile(
    rf"(?:[$€£¥]\s?)?(?<![\w.])\d+(?:[,.]\d+)*(?:\s?(?:%|percent|million|billion|thousand))?"
    rf"|\b(?:{_NUMBER_WORDS})\b",
    re.IGNORECASE,
)
_DATED = re.compile(rf"(?:{_MONTHS})\b[ \d,]*$")
_QUOTED = re.compile(r"(?:(?<!\w)\"|[“«„])(?=\S)([^\"“”«»„]{2,120})(?<=\S)(?:\"|[”»“])")
_IS_A = re.compile(
    r"\b(?:is|was|are|were|as|became|being)\s+(?:an?|the|one of the)\s+([^.;:()]{3,90})",
    re.IGNORECASE,
)
_IS = re.compile(
    r"\b(?:is|was|are|were|be|became|means?|\w{3,}ed)\s+(?!an?\b|the\b|by\b|in\b|on\b|at\b|from\b|to\b"
    r"|as\b|with\b|for\b|that\b|not\b)([^.;:()\"]{3,90})"
)
_LONGEST_PHRASE = 8
_UNIT = re.compile(r"[ -]([A-Za-zµ°€$]{1,12}(?:/[A-Za-z]{1,6})?[²³]?)(?!\w)")
_CLAUSE = re.compile(
    r",| (?:who|that|which|whose|based|born|located|situated|known|written|directed|released|"
    r"published|produced|founded|from|by|in|on|at|for|with|of|starring|featuring|and is|since)\b"
)
_JOINING = """
of the de la le du van von der den del di da al el bin ibn for and & y e
"""
_JOINTS = frozenset(_JOINING.split())
_PLACING = """
in at from near to into across outside around via of
"""
_AFTER_PLACE = frozenset(_PLACING.split())


class ValueCandidate(NamedTuple):
    """A value as it stands in a sentence, and where."""

    value: str
    kind: ValueKind
    start: int
    end: int


def find_candidates(sentence: str) -> list[ValueCandidate]:
    """Everything in the sentence that could be a value."""
    return [
        *_times_and_amounts(sentence),
        *_quoted(sentence),
        *proper_names(sentence),
        *descriptions_after_is(sentence),
        *_verb_phrases(sentence),
    ]


def _times_and_amounts(text: str) -> Iterator[ValueCandidate]:
    """Dates and years; and of the numbers those that are neither, with their unit and without."""
    dates = list(_matches(_DATE, text, ValueKind.DATE))
    years = list(_matches(_YEARS, text, ValueKind.YEAR))
    yield from dates
    yield from years
    for each in _matches(_NUMBER, text, ValueKind.NUMBER):
        if any(time.start <= each.start < time.end for time in (*dates, *years)):
            continue
        yield each
        unit = _UNIT.match(text, each.end)
        if unit and unit.group(1).lower() not in (*STOPWORDS, "per"):
            yield ValueCandidate(
                text[each.start : unit.end()], ValueKind.NUMBER, each.start, unit.end()
            )


def _verb_phrases(text: str) -> Iterator[ValueCandidate]:
    """Phrases after `is` or another verb, up to the end of the clause."""
    for found in _IS.finditer(text):
        phrase = _CLAUSE.split(found.group(1), maxsplit=1)[0].strip()
        if phrase and len(phrase.split()) <= _LONGEST_PHRASE:
            yield ValueCandidate(
                phrase, ValueKind.PHRASE, found.start(1), found.start(1) + len(phrase)
            )


def _matches(pattern: re.Pattern[str], text: str, kind: ValueKind) -> Iterator[ValueCandidate]:
    for found in pattern.finditer(text):
        yield ValueCandidate(found.group(), kind, found.start(), found.end())


def _quoted(text: str) -> Iterator[ValueCandidate]:
    for found in _QUOTED.finditer(text):
        yield ValueCandidate(
            found.group(1).rstrip(","), ValueKind.WORK, found.start(1), found.end(1)
        )


def descriptions_after_is(text: str) -> Iterator[ValueCandidate]:
    """What `is a ...` says of something, up to the next clause."""
    for found in _IS_A.finditer(text):
        phrase = _CLAUSE.split(found.group(1), maxsplit=1)[0].strip()
        if phrase:
            yield ValueCandidate(
                phrase, ValueKind.QUALITY, found.start(1), found.start(1) + len(phrase)
            )


def proper_names(text: str) -> list[ValueCandidate]:
    """The capitalised spans: names, or places where a preposition of place stands before."""
    found: list[ValueCandidate] = []
    run: list[Word] = []
    for word in [*words(text), None]:
        if word is not None and run and _joins(text, run[-1], word):
            run.append(word)
            continue
        _add_name(text, run, found)
        run = [word] if word is not None and _is_capital(word.text) else []
    return found


def _is_capital(word: str) -> bool:
    return word[0].isupper()


def _joins(text: str, last: Word, word: Word) -> bool:
    gap = text[last.end : word.start]
    if len(gap) > 3 or gap.strip(" .-–/&'’") or (". " in gap and len(last.text) > 2):
        return False
    return (
        _is_capital(word.text)
        or word.text in _JOINTS
        or (word.text.isdigit() and len(word.text) <= 4)
    )


def _add_name(text: str, run: list[Word], found: list[ValueCandidate]) -> None:
    while run and not (_is_capital(run[-1].text) or run[-1].text.isdigit()):
        run.pop()
    while run and run[0].text.lower() in STOPWORDS and (len(run) == 1 or run[0].text != "The"):
        run.pop(0)
    while run and not _is_capital(run[0].text):
        run.pop(0)
    if run and _says_how_often(text, run):
        return
    if run and _DATED.match(text[run[0].start : run[-1].end]):
        return
    for part in _parts(run):
        start, end = part[0].start, part[-1].end
        found.append(ValueCandidate(text[start:end], _name_kind(text, start), start, end))


def _says_how_often(text: str, run: list[Word]) -> bool:
    """True of `Twice a week, X goes …`; `Yesterday is a song` names something."""
    return (
        len(run) == 1
        and run[0].text.lower() in FREQUENCIES
        and not text[: run[0].start].rstrip()[-1:].isalnum()
        and _GOES_ON.match(text, run[0].end) is not None
    )


_GOES_ON = re.compile(r",| (?!(?:is|was|has|had|are|were)\b)[a-z]")


def _parts(run: list[Word]) -> Iterator[list[Word]]:
    """The run of words; and each name of it, if `and` joins names."""
    if not run:
        return
    yield run
    cuts = [at for at, word in enumerate(run) if word.text in ("and", "for", "y", "e")]
    if cuts:
        edges = [-1, *cuts, len(run)]
        for left, right in itertools.pairwise(edges):
            part = list(run[left + 1 : right])
            while part and not _is_capital(part[0].text):
                part.pop(0)
            if part:
                yield part


def _name_kind(text: str, start: int) -> ValueKind:
    before = text[max(0, start - 14) : start].lower().split()
    if before and before[-1] == "the":
        before.pop()
    return ValueKind.PLACE if before and before[-1] in _AFTER_PLACE else ValueKind.NAME
