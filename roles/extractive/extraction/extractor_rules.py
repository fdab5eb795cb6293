"""Extractor by rules: rank sentences, score value candidates, return the best value."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pydantic import JsonValue

from holdfast.models.plans.research_plan import EntityType, ExpectedEntity
from holdfast.roles.extractive.extraction.amount_wording import with_counted_noun
from holdfast.roles.extractive.extraction.candidate_scoring import (
    ScoredCandidate,
    confidence,
    score,
)
from holdfast.roles.extractive.extraction.changed_values import asked_candidates
from holdfast.roles.extractive.extraction.entity_query import EntityQuery, SentenceMatch, is_known
from holdfast.roles.extractive.extraction.extraction_summary import extraction_summary
from holdfast.roles.extractive.extraction.person_names import without_post
from holdfast.roles.extractive.extraction.plain_statements import PLAIN_CONFIDENCE, plain_value
from holdfast.roles.extractive.extraction.response_passages import (
    ParsedResponse,
    ResponsePassage,
    parse_response,
)
from holdfast.roles.extractive.extraction.sentence_beginnings import is_word_at_beginning
from holdfast.roles.extractive.extraction.sentence_ranking import (
    build_entity_query,
    ranked_sentences,
)
from holdfast.roles.extractive.extraction.subject_mentions import (
    mentions_subject,
    subject_confidence,
)
from holdfast.roles.extractive.extraction.superseded_values import present_value
from holdfast.roles.extractive.extraction.supporting_sentence import best_sentence
from holdfast.roles.extractive.extraction.table_cells import CELL_CONFIDENCE, best_cell
from holdfast.roles.extractive.extraction.value_doubts import (
    DOUBTFUL_CONFIDENCE,
    is_another_measure,
    is_another_sort,
    is_doubtful,
)
from holdfast.roles.extractive.text.dates_and_amounts import first_amount
from holdfast.roles.extractive.text.measure_units import is_amount_of_money, is_money
from holdfast.roles.extractive.text.noun_kinds import ValueKind
from holdfast.roles.extractive.text.value_candidates import ValueCandidate, find_candidates
from holdfast.roles.extractive.text.words_and_sentences import is_content_word, words
from holdfast.roles.tasks.extractor import Extracted, ExtractorAnswer, ExtractorTask

_LEAST_CONFIDENCE = 0.12
"""Below this confidence a value is a guess, and the answer is null."""


class BestValue(NamedTuple):
    """The best value of an entity, its confidence, and other values of the same sentence."""

    found: ScoredCandidate
    sure: float
    others: tuple[str, ...] = ()
    is_doubtful: bool = False


_LIKELY = 0.3
"""The least confidence where nobody compares it with a threshold."""


def extract_for_plan(task: ExtractorTask) -> ExtractorAnswer:
    """The entities for a task of a plan.

    Where the plan has no threshold, as in `full-horizon`, each value that is given counts: a
    doubtful one would be the answer.
    """
    if task.least_confidence is not None:
        return extract(task)
    return extract(task, keeps_doubtful=False, least=_LIKELY)


def extract(
    task: ExtractorTask, *, keeps_doubtful: bool = True, least: float = _LEAST_CONFIDENCE
) -> ExtractorAnswer:
    """The entities that the response shows, each with its sentence.

    A value below `least` is null. Without `keeps_doubtful` one of another sort, or of another
    subject, is null too.
    """
    reading = parse_response(task.response)
    cited: list[SentenceMatch] = []
    found: list[Extracted] = []
    for entity in task.entities:
        best = _best(entity, task, reading, cited)
        if best is not None and best.is_doubtful and not keeps_doubtful:
            best = None
        if best is not None:
            cited.append(best.found.place)
        found.append(_extracted(entity, best, least))
    sure = [each.confidence or 0.0 for each in found]
    return ExtractorAnswer(
        entities=found,
        confidence=min(sure, default=0.0),
        summary=extraction_summary(task, reading, found),
    )


def _extracted(entity: ExpectedEntity, best: BestValue | None, least: float) -> Extracted:
    value = _typed(best, entity.type) if best is not None and best.sure >= least else None
    if best is None or value is None:
        low = min(best.sure, _LEAST_CONFIDENCE) if best is not None else 0.0
        return Extracted(name=entity.name, value=None, confidence=round(low, 2), quote="")
    quote = best.found.place.sentence.text
    return Extracted(name=entity.name, value=value, confidence=round(best.sure, 2), quote=quote)


def _typed(best: BestValue, kind: EntityType) -> str | int | float | list[JsonValue] | None:
    """The value in the declared type; None for types that no text states."""
    value = best.found.value
    if kind in (EntityType.INTEGER, EntityType.NUMBER):
        amount = first_amount(value)
        if amount is None:
            return None
        return int(amount[0]) if amount[0].is_integer() else amount[0]
    if kind is EntityType.ARRAY:
        return [value, *best.others]
    return value if kind is EntityType.STRING else None


def _best(
    entity: ExpectedEntity,
    task: ExtractorTask,
    reading: ParsedResponse,
    cited: Sequence[SentenceMatch],
) -> BestValue | None:
    wanted = build_entity_query(entity, task)
    places = ranked_sentences(reading, wanted)
    if wanted.kind is ValueKind.SENTENCE:
        said = best_sentence(places, cited, reading, wanted)
        return BestValue(*said) if said is not None else None
    best = _best_value(places, wanted, reading)
    if best is None:
        return None
    present = present_value(best.found, wanted, reading)
    if present.value == best.found.value:
        return best._replace(found=present)
    return best._replace(found=present, sure=min(best.sure, DOUBTFUL_CONFIDENCE))


def _best_value(
    places: Sequence[SentenceMatch], wanted: EntityQuery, reading: ParsedResponse
) -> BestValue | None:
    cell = best_cell(reading, wanted)
    if cell is not None:
        return BestValue(cell, CELL_CONFIDENCE)
    plain = plain_value(reading, wanted)
    if plain is not None:
        return BestValue(_worded(plain, wanted), PLAIN_CONFIDENCE)
    every = _fitting(places, wanted, reading)
    if not every or fits_nothing(every[0]) or _is_no_name(every[0], wanted, reading):
        return None
    if is_another_sort(every[0], wanted, reading):
        return None
    doubtful = is_doubtful(every[0], wanted, reading)
    sure = _confidence_of_first(every, wanted, reading, is_doubtful=doubtful)
    return BestValue(_worded(every[0], wanted), sure, _other_values(every), doubtful)


def _worded(found: ScoredCandidate, wanted: EntityQuery) -> ScoredCandidate:
    if wanted.kind is ValueKind.PERSON:
        return replace(found, value=without_post(found.value))
    if wanted.kind is not ValueKind.NUMBER:
        return found
    value = with_counted_noun(found.value, found.place.sentence.text, wanted)
    return replace(found, value=value)


def _fitting(
    places: Sequence[SentenceMatch], wanted: EntityQuery, reading: ParsedResponse
) -> list[ScoredCandidate]:
    """The candidates, best first, without those of the wrong measure or a poorer fit."""
    every = sorted(scored_candidates(places, wanted, reading), key=lambda each: -each.score)
    if is_money(wanted.measure) and any(is_amount_of_money(each.value) for each in every):
        every = [each for each in every if is_amount_of_money(each.value)]
    if wanted.measure:
        every = [each for each in every if not fits_nothing(each)]
        every = [each for each in every if not is_another_measure(each, wanted)] or every
    if wanted.subject and every:
        most = max(each.features["fit"] for each in every)
        every = [each for each in every if each.features["fit"] == most]
    if wanted.subject and wanted.kind in (ValueKind.GROUP, ValueKind.PERSON):
        most = max((each.features["dense"] for each in every), default=0.0)
        every = [each for each in every if each.features["dense"] >= _SAYS_AS_MUCH * most]
    return every


_SAYS_AS_MUCH = 0.8
"""A candidate counts only if its sentence says at least this share of the asked relation."""


def _confidence_of_first(
    every: Sequence[ScoredCandidate],
    wanted: EntityQuery,
    reading: ParsedResponse,
    *,
    is_doubtful: bool,
) -> float:
    """How sure the first candidate is."""
    first = every[0]
    sure = confidence(_rivals(every, wanted)) * _relevance(first.place)
    if not wanted.subject:
        sure *= _names_said(first.place, wanted, reading)
    if is_doubtful:
        sure = min(sure, DOUBTFUL_CONFIDENCE)
    return _of_the_subject(sure, first, wanted, reading) if wanted.subject else sure


def _rivals(every: Sequence[ScoredCandidate], wanted: EntityQuery) -> Sequence[ScoredCandidate]:
    """The candidates without longer or shorter cuts of the first one's words."""
    first = every[0]
    if wanted.kind is not ValueKind.NUMBER:
        return every
    others = [
        each
        for each in every[1:]
        if each.value not in first.value and first.value not in each.value
    ]
    return [first, *others]


def _names_said(place: SentenceMatch, wanted: EntityQuery, reading: ParsedResponse) -> float:
    """A factor up to 1, by the share of the asked names that the passage holds."""
    if not wanted.named:
        return 1.0
    share = reading.coverage(wanted.named, place.passage.stems)
    return min(1.0, 0.6 + share)


def _other_values(every: Sequence[ScoredCandidate]) -> tuple[str, ...]:
    """The other values of the same sentence that fit nearly as well: a list has several."""
    first = every[0]
    near = (
        each.value
        for each in every[:_MAX_OTHERS]
        if each.place is first.place
        and first.score - each.score < _NEAR
        and each.value not in first.value
        and first.value not in each.value
    )
    return tuple(dict.fromkeys(near))


_MAX_OTHERS, _NEAR = 30, 1.5
_ENOUGH = 0.35


def _relevance(place: SentenceMatch) -> float:
    """A factor up to 1, by the share of the asked words that the passage holds.

    Without it the only date of an unrelated passage, having no rival, would seem sure.
    """
    return min(1.0, max(place.passage_share, place.sentence_share) / _ENOUGH)


def fits_nothing(best: ScoredCandidate) -> bool:
    """True if even the best candidate is of another type."""
    return best.features.get("fit", 0.0) <= 0


def _of_the_subject(
    sure: float, best: ScoredCandidate, wanted: EntityQuery, reading: ParsedResponse
) -> float:
    """Raise the confidence of a value whose sentence is about the subject itself."""
    own = subject_confidence(best.place, wanted, reading)
    is_amount = wanted.kind in (ValueKind.NUMBER, ValueKind.DATE)
    if is_amount and mentions_subject(best.place.sentence, wanted.subject):
        own = max(own, 0.72)
    elif best.features.get("dense", 0.0) <= 0:
        own -= 0.1
    return max(own, min(sure, 0.69))


def scored_candidates(
    places: Sequence[SentenceMatch], wanted: EntityQuery, reading: ParsedResponse
) -> Iterator[ScoredCandidate]:
    """Score every candidate that the question does not name itself."""
    titled: set[str] = set()
    for place in places:
        text = place.sentence.text
        for each in asked_candidates(text, wanted.lower_text):
            if not is_known(each, wanted.known):
                yield score(each, place, wanted, reading, is_title=False)
        if place.passage.title not in titled:
            titled.add(place.passage.title)
            title = _title(place.passage, wanted)
            if title is not None and not is_known(title, wanted.known):
                yield score(title, place, wanted, reading, is_title=True)


_NAMED = (ValueKind.PERSON, ValueKind.GROUP)
"""Kinds whose values are names: `Policy` at the beginning of a line is no name."""


def _is_no_name(best: ScoredCandidate, wanted: EntityQuery, reading: ParsedResponse) -> bool:
    """True if the best candidate for a name is a word at the beginning of a sentence or label.

    Nothing is found then: without this candidate, the next one would win without a rival.
    """
    text = best.place.sentence.text
    start = text.find(best.value)
    if wanted.kind not in _NAMED or start < 0:
        return False
    name = ValueCandidate(best.value, ValueKind.NAME, start, start + len(best.value))
    return is_word_at_beginning(name, text, reading)


def _is_descriptive(title: str) -> bool:
    """True if the title describes its document, as `Agreement with X on the storage of fruit`."""
    said = [each.text for each in words(title) if is_content_word(each.text)]
    return sum(each.islower() for each in said) >= _LOWER_CASE_WORDS


_LOWER_CASE_WORDS = 2


def _title(passage: ResponsePassage, wanted: EntityQuery) -> ValueCandidate | None:
    if not passage.is_title_a_name or _is_descriptive(passage.name):
        return None
    if wanted.kind in _NAMED and any(
        each.kind is ValueKind.DATE for each in find_candidates(passage.name)
    ):
        return None  # `Letter of X, 27 February 2025`
    is_work = passage.title != passage.name and any(
        word in passage.title for word in ("film", "album", "song", "series", "novel", "book")
    )
    return ValueCandidate(passage.name, ValueKind.WORK if is_work else ValueKind.NAME, 0, 0)
