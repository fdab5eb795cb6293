"""The extractor by rules: ranks sentences, takes typed candidates near the asked relation."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from models.plan import EntityType, Expected
from roles.extractive.candidates import Candidate, candidates, offices_in
from roles.extractive.doubts import DOUBTED, FITS_HARDLY, is_another_measure, is_doubtful
from roles.extractive.lexicon import Kind
from roles.extractive.passages import best_sentence
from roles.extractive.ranking import ranked_places, wanted_of
from roles.extractive.reading import Passage, Reading, read
from roles.extractive.scoring import Scored, confidence, score
from roles.extractive.subjects import mentions_subject, sure_of_subject
from roles.extractive.summary import summary_of
from roles.extractive.values import how_much
from roles.extractive.wanted import Place, Wanted, is_known
from roles.extractor import Extracted, ExtractorAnswer, ExtractorTask

_FLOOR = 0.12
"""Below this share of being right a value is a guess, and none is given."""


class Best(NamedTuple):
    """What fits an entity best, how sure it is, and what else of the kind stands beside it."""

    found: Scored
    sure: float
    beside: tuple[str, ...] = ()


def extract(task: ExtractorTask) -> ExtractorAnswer:
    """The entities that the response shows, each with its sentence."""
    reading = read(task.response)
    cited: list[Place] = []
    found: list[Extracted] = []
    for entity in task.entities:
        best = _best(entity, task, reading, cited)
        if best is not None:
            cited.append(best.found.place)
        found.append(_extracted(entity, best))
    sure = [each.confidence or 0.0 for each in found]
    return ExtractorAnswer(
        entities=found, confidence=min(sure, default=0.0), summary=summary_of(task, reading, found)
    )


def _extracted(entity: Expected, best: Best | None) -> Extracted:
    value = _typed(best, entity.type) if best is not None and best.sure >= _FLOOR else None
    if best is None or value is None:
        low = min(best.sure, _FLOOR) if best is not None else 0.0
        return Extracted(name=entity.name, value=None, confidence=round(low, 2), quote="")
    quote = best.found.place.sentence.text
    return Extracted(name=entity.name, value=value, confidence=round(best.sure, 2), quote=quote)


def _typed(best: Best, kind: EntityType) -> str | int | float | list[JsonValue] | None:
    """The value in the declared type; nothing for types that no text states as such."""
    value = best.found.value
    if kind in (EntityType.INTEGER, EntityType.NUMBER):
        amount = how_much(value)
        if amount is None:
            return None
        return int(amount[0]) if amount[0].is_integer() else amount[0]
    if kind is EntityType.ARRAY:
        return [value, *best.beside]
    return value if kind is EntityType.STRING else None


def _best(
    entity: Expected, task: ExtractorTask, reading: Reading, cited: Sequence[Place]
) -> Best | None:
    wanted = wanted_of(entity, task)
    places = ranked_places(reading, wanted)
    if wanted.kind is Kind.SENTENCE:
        said = best_sentence(places, cited, reading, wanted)
        return Best(*said) if said is not None else None
    every = _fitting(places, wanted, reading)
    if not every or fits_nothing(every[0]):
        return None
    return Best(every[0], _sure(every, wanted, reading), _beside(every))


def _fitting(places: Sequence[Place], wanted: Wanted, reading: Reading) -> list[Scored]:
    """The candidates, best first; where the kind is exact, only those that are of it."""
    every = sorted(scored_candidates(places, wanted, reading), key=lambda each: -each.score)
    if wanted.kind is Kind.OFFICE:
        every = [each for each in every if each.features["fit"] >= FITS_HARDLY]
    if wanted.measure:
        every = [each for each in every if not fits_nothing(each)]
        every = [each for each in every if not is_another_measure(each, wanted)] or every
    if wanted.subject and every:
        most = max(each.features["fit"] for each in every)
        every = [each for each in every if each.features["fit"] == most]
    if wanted.subject and wanted.kind in (Kind.GROUP, Kind.PERSON):
        most = max((each.features["dense"] for each in every), default=0.0)
        every = [each for each in every if each.features["dense"] >= _SAYS_AS_MUCH * most]
    return every


_SAYS_AS_MUCH = 0.8
"""Of a thing with several makers only those count beside whom the asked part is said."""


def _sure(every: Sequence[Scored], wanted: Wanted, reading: Reading) -> float:
    """How sure the first candidate is."""
    first = every[0]
    sure = confidence(_rivals(every, wanted)) * _relevance(first.place)
    if not wanted.subject:
        sure *= _names_said(first.place, wanted, reading)
    if is_doubtful(first, wanted, reading):
        sure = min(sure, DOUBTED)
    return _of_the_subject(sure, first, wanted, reading) if wanted.subject else sure


def _rivals(every: Sequence[Scored], wanted: Wanted) -> Sequence[Scored]:
    """The candidates without those that only cut the same words differently."""
    first = every[0]
    if wanted.kind not in (Kind.OFFICE, Kind.NUMBER):
        return every
    others = [
        each for each in every[1:]
        if each.value not in first.value and first.value not in each.value
    ]  # fmt: skip
    return [first, *others]


def _names_said(place: Place, wanted: Wanted, reading: Reading) -> float:
    """1 when the passage says a good part of the names that are asked about, less otherwise."""
    if not wanted.named:
        return 1.0
    share = reading.coverage(wanted.named, place.passage.stems)
    return min(1.0, 0.6 + share)


def _beside(every: Sequence[Scored]) -> tuple[str, ...]:
    """The other values of the same sentence that fit nearly as well: a list has several."""
    first = every[0]
    near = (
        each.value for each in every[:_MOST_BESIDE]
        if each.place is first.place and first.score - each.score < _NEAR
        and each.value not in first.value and first.value not in each.value
    )  # fmt: skip
    return tuple(dict.fromkeys(near))


_MOST_BESIDE, _NEAR = 30, 1.5
_ENOUGH = 0.35


def _relevance(place: Place) -> float:
    """1 when the passage says a good part of what is asked, less in proportion.

    Without it the only date of an unrelated passage, having no rival, would seem sure.
    """
    return min(1.0, max(place.passage_share, place.sentence_share) / _ENOUGH)


def fits_nothing(best: Scored) -> bool:
    """Whether not even the best candidate is of the wanted type."""
    return best.features.get("fit", 0.0) <= 0


def _of_the_subject(sure: float, best: Scored, wanted: Wanted, reading: Reading) -> float:
    """A value said of the subject itself is surer than its rivals make it look."""
    own = sure_of_subject(best.place, wanted, reading)
    is_amount = wanted.kind in (Kind.NUMBER, Kind.DATE)
    if is_amount and mentions_subject(best.place.sentence, wanted.subject):
        own = max(own, 0.72)
    elif best.features.get("dense", 0.0) <= 0:
        own -= 0.1
    return max(own, min(sure, 0.69))


def scored_candidates(
    places: Sequence[Place], wanted: Wanted, reading: Reading
) -> Iterator[Scored]:
    """Every candidate that the question does not hold already."""
    titled: set[str] = set()
    for place in places:
        text = place.sentence.text
        more = offices_in(text) if wanted.kind is Kind.OFFICE else ()
        for each in (*candidates(text), *more):
            if not is_known(each, wanted.known):
                yield score(each, place, wanted, reading, is_title=False)
        if place.passage.title not in titled:
            titled.add(place.passage.title)
            title = _title(place.passage)
            if title is not None and not is_known(title, wanted.known):
                yield score(title, place, wanted, reading, is_title=True)


def _title(passage: Passage) -> Candidate | None:
    if not passage.is_a_name:
        return None
    is_work = passage.title != passage.name and any(
        word in passage.title for word in ("film", "album", "song", "series", "novel", "book")
    )
    return Candidate(passage.name, Kind.WORK if is_work else Kind.NAME, 0, 0)
