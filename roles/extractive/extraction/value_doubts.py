"""Detect doubtful values, whose confidence is capped below the threshold."""

import re

from holdfast.roles.extractive.extraction.candidate_scoring import ScoredCandidate
from holdfast.roles.extractive.extraction.entity_query import EntityQuery, SentenceMatch
from holdfast.roles.extractive.extraction.response_passages import ParsedResponse
from holdfast.roles.extractive.extraction.table_cells import column_of
from holdfast.roles.extractive.text.noun_kinds import ValueKind, kind_of_noun
from holdfast.roles.extractive.text.words_and_sentences import stem, stems, words

DOUBTFUL_CONFIDENCE = 0.6
"""The highest confidence of a doubtful value."""
POOR_FIT = 0.4
"""Below this a value is of another sort than the wanted one: the best of what is there."""
_AMOUNTS = (ValueKind.NUMBER, ValueKind.YEAR, ValueKind.DATE)
_RELATIVES = """
wife husband spouse son daughter child father mother parent brother sister sibling uncle aunt
nephew niece cousin grandfather grandmother girlfriend boyfriend widow
"""
_KIN = frozenset(stem(each) for each in _RELATIVES.split())
_SAYS_KIN = _KIN | {stem(each) for each in ("married", "marriage", "born", "wed", "family", "née")}
_PRIZES = frozenset(
    stem(each) for each in ("prize", "award", "medal", "honour", "honor", "trophy", "cup", "order")
)
SAID_PLAINLY = ("height", "width", "depth", "thickness", "length")
"""Measures whose word must stand next to the amount."""


def is_doubtful(best: ScoredCandidate, wanted: EntityQuery, reading: ParsedResponse) -> bool:
    """True if the value is of another kind than asked for, or belongs to another subject."""
    return (
        best.features["fit"] < POOR_FIT
        or _is_no_kin(best, wanted)
        or _is_no_prize(best, wanted)
        or is_another_measure(best, wanted)
        or _is_no_such_thing(best, wanted)
        or _is_of_another_name(best, wanted, reading)
        or _may_be_person_for_group(best, wanted, reading)
        or _is_no_such_group(best, wanted)
        or _has_no_such_post(best, wanted)
    )


def is_another_sort(best: ScoredCandidate, wanted: EntityQuery, reading: ParsedResponse) -> bool:
    """True if what was read says that the value is another sort of thing than is asked for.

    Nothing is found then: without this candidate the next one would win without a rival.
    """
    return _is_person_for_group(best, wanted, reading) or _is_in_another_column(best, wanted)


def _is_no_kin(best: ScoredCandidate, wanted: EntityQuery) -> bool:
    """True if a relative is asked for and the sentence names no family relation."""
    said = best.place.sentence.stems
    return bool(wanted.noun & _KIN) and not said & _SAYS_KIN


def _is_no_prize(best: ScoredCandidate, wanted: EntityQuery) -> bool:
    return bool(wanted.noun & _PRIZES) and not frozenset(stems(best.value)) & _PRIZES


def _is_person_for_group(
    best: ScoredCandidate, wanted: EntityQuery, reading: ParsedResponse
) -> bool:
    """True if a group is asked for, and what was read names the value as a person: `Ms. X`."""
    if wanted.kind is not ValueKind.GROUP:
        return False
    name, last = (re.escape(each) for each in (best.value.lower(), best.value.lower().split()[-1]))
    said = re.compile(
        rf"\b(?:mr|mrs|ms|miss|dr|prof)\b\.? (?:{name}|{last})\b"
        rf"|\b{name}, (?:[\w-]+ ){{0,3}}?(?:{_POSTS})\b"
        rf"(?!{_OF_MANAGED})"
    )
    return any(said.search(passage.lower_text) for passage in reading.passages)


_POSTS = (
    "manager|director|secretary|engineer|chairman|chairwoman|ceo|mayor|lawyer|surveyor|accountant|"
    "technician|supervisor|nurse|teacher|minister|president"
)
"""What only a person is; an owner, a maker or a founder may be a company."""


def _may_be_person_for_group(
    best: ScoredCandidate, wanted: EntityQuery, reading: ParsedResponse
) -> bool:
    """True if the value has a post at such a thing, and is no company that manages it."""
    if wanted.kind is not ValueKind.GROUP:
        return False
    said = re.compile(
        rf"\b{re.escape(best.value.lower())}, (?:[\w-]+ ){{0,3}}?({_POSTS})\b{_OF_MANAGED}"
    )
    posts = {each for passage in reading.passages for each in said.findall(passage.lower_text)}
    return bool(posts) and not (posts == {"manager"} and _is_named_as_company(best.value))


def _is_named_as_company(value: str) -> bool:
    said = [each.text for each in words(value)]
    return len(said) > 1 and any(
        each.lower() in _COMPANY_WORDS or kind_of_noun(each) is ValueKind.GROUP for each in said
    )


_COMPANY_NOUNS = """
advisers advisors asset assets capital co estates fund funds group holdings inc investment
investments limited llc llp ltd management partners plc properties services trust
"""
_COMPANY_WORDS = frozenset(_COMPANY_NOUNS.split())
_OF_MANAGED = (
    r" of (?:the |its |a )?(?:[\w-]+ )?"
    "(?:funds?|estates?|assets|portfolios?|property|properties|pensions?|schemes?|trusts?)"
)
"""What a company manages as well: `Orme Capital, manager of the fund`."""


def _is_no_such_group(best: ScoredCandidate, wanted: EntityQuery) -> bool:
    """True if neither the value nor its passage says that it is such a group.

    Without it any name would be an insurer. Of `company` and the like no passage says so.
    """
    if wanted.kind is not ValueKind.GROUP or wanted.subject or best.features["noun"] > 0:
        return False
    asked = next(iter(wanted.noun), "")
    if len(asked) < _SHORTEST_NOUN or asked in _ANY_GROUP:
        return False
    is_named = any(kind_of_noun(each.text) is ValueKind.GROUP for each in words(best.value))
    return not is_named and not any(
        each.startswith(asked) for each in surrounding_stems(best.place)
    )


_SHORTEST_NOUN = 4
_ANY_GROUP = frozenset(map(stem, ("company", "firm", "group", "organisation", "organization")))
_NEXT_SENTENCES = 2


def surrounding_stems(place: SentenceMatch) -> frozenset[str]:
    """The words of the title, the sentence, and the two sentences on each side.

    A tool's whole response is one passage: a word far away says nothing of the value.
    """
    at = place.sentence.order
    near = place.passage.sentences[max(0, at - _NEXT_SENTENCES) : at + _NEXT_SENTENCES + 1]
    return place.passage.title_stems.union(place.sentence.stems, *(each.stems for each in near))


def _is_in_another_column(best: ScoredCandidate, wanted: EntityQuery) -> bool:
    """True of a cell whose column says something else: `opened: 2022` is no risk.

    Of a person, a place or a time the question seldom names the column: `author` if it asks who
    wrote.
    """
    if wanted.kind not in (ValueKind.ANY, ValueKind.GROUP) or not wanted.noun:
        return False
    column = frozenset(stems(column_of(best.value, best.place.sentence.text)))
    return bool(column) and not column & (wanted.noun | wanted.about)


def _has_no_such_post(best: ScoredCandidate, wanted: EntityQuery) -> bool:
    """True if the holder of a post is asked for, as `officer`, and nothing near says the post."""
    asked = wanted.noun & _POST_STEMS
    near = surrounding_stems(best.place)
    if wanted.kind is not ValueKind.PERSON or asked <= near:
        return False
    told = wanted.noun | wanted.about
    return not any(
        any(post <= told for post in equals) and any(post <= near for post in equals)
        for equals in _EQUAL_POSTS
    )


_POST_STEMS = frozenset(
    stem(each)
    for each in (
        *("officer", "manager", "secretary", "chairman", "treasurer", "accountant"),
        *("ceo", "cfo", "cto", "coo", "cio", "dpo"),
    )
)
"""Posts that texts name; of an author or a director they may say `wrote` or `film by`."""
_EQUAL_POSTS = [
    [frozenset(stems(post)) for post in equals.split(", ")]
    for equals in (
        "ceo, chief executive",
        "cfo, chief financial officer",
        "cto, chief technology officer",
        "coo, chief operating officer",
        "cio, chief information officer",
        "dpo, data protection officer",
        "chairman, chair, chairwoman, chairperson",
        "press officer, press contact",
    )
]
"""Posts by other names; to chair a board is to be its chairman."""


def _is_no_such_thing(best: ScoredCandidate, wanted: EntityQuery) -> bool:
    """True if a thing without a kind is asked for, as `which risk`, and nothing says it is one."""
    return wanted.kind is ValueKind.ANY and bool(wanted.noun) and best.features["noun"] <= 0


def is_another_measure(best: ScoredCandidate, wanted: EntityQuery) -> bool:
    """`five kilometres south` is no height: a measure needs its word next to it."""
    if wanted.measure not in SAID_PLAINLY:
        return False
    text = best.place.sentence.text
    at = text.find(best.value)
    nearby = text[max(0, at - _NEARBY_CHARS) : at + len(best.value) + _NEARBY_CHARS]
    lasts = wanted.measure == "length" and re.search(r"minute|hour|page", best.value)
    return not lasts and not wanted.noun & frozenset(stems(nearby))


_NEARBY_CHARS = 20


def _is_of_another_name(
    best: ScoredCandidate, wanted: EntityQuery, reading: ParsedResponse
) -> bool:
    """True if an amount's sentence and title name little of what is asked about."""
    if wanted.kind not in _AMOUNTS or wanted.subject or not wanted.named:
        return False
    said = best.place.sentence.stems | best.place.passage.title_stems
    return reading.coverage(wanted.named, said) < _NAMED_ENOUGH


_NAMED_ENOUGH = 0.34
