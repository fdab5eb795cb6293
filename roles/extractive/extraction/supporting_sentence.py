"""Choose the sentence to cite for an answer: the best passage, then its best sentence."""

from collections.abc import Mapping, Sequence

from holdfast.roles.extractive.extraction.candidate_scoring import ScoredCandidate, probability
from holdfast.roles.extractive.extraction.entity_query import EntityQuery, SentenceMatch
from holdfast.roles.extractive.extraction.response_passages import ParsedResponse, ResponsePassage
from holdfast.roles.extractive.extraction.subject_mentions import (
    mentions_subject,
    subject_confidence,
    subject_relevance,
)
from holdfast.roles.extractive.extraction.superseded_values import present_sentence

# Fitted like the weights of candidates, on whether the passage is one that the answer needs.
# The first passage must say it itself; a second one is told by its link to the first.
FIRST_PASSAGE_WEIGHTS: Mapping[str, float] = {
    "bias": -0.9,
    "share": 2.0,
    "sentence": 2.1,
    "named": 2.4,
}
SECOND_PASSAGE_WEIGHTS: Mapping[str, float] = {
    "bias": -2.2,
    "fresh": 2.0,
    "share": 0.5,
    "sentence": 1.5,
    "named": 2.0,
    "to": 2.5,
    "from": 0.1,
    "hinted": 1.1,
}


def best_sentence(
    places: Sequence[SentenceMatch],
    cited: Sequence[SentenceMatch],
    reading: ParsedResponse,
    wanted: EntityQuery,
) -> tuple[ScoredCandidate, float] | None:
    """The sentence that adds most to the cited ones, and its confidence."""
    if wanted.subject:
        return _subject_sentence(places, wanted, reading)
    used = {id(each.passage) for each in cited}
    by_passage: dict[int, list[SentenceMatch]] = {}
    for each in places:
        if id(each.passage) not in used:
            by_passage.setdefault(id(each.passage), []).append(each)
    if not by_passage:
        return None
    scored = [(_score(some, cited, reading, wanted), some) for some in by_passage.values()]
    score, within = max(scored, key=lambda pair: pair[0])
    best = max(within, key=lambda each: _says_what_is_asked(each, wanted, reading))
    best = present_sentence(best, wanted, reading)
    return ScoredCandidate(best.sentence.text, best, score), probability(score)


def _score(
    within: Sequence[SentenceMatch],
    cited: Sequence[SentenceMatch],
    reading: ParsedResponse,
    wanted: EntityQuery,
) -> float:
    weights = SECOND_PASSAGE_WEIGHTS if cited else FIRST_PASSAGE_WEIGHTS
    features = passage_features(within, cited, reading, wanted)
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


def passage_features(
    within: Sequence[SentenceMatch],
    cited: Sequence[SentenceMatch],
    reading: ParsedResponse,
    wanted: EntityQuery,
) -> dict[str, float]:
    """The features of the passage that these sentences belong to."""
    passage = within[0].passage
    said = frozenset[str]().union(*(each.passage.stems for each in cited))
    return {
        "bias": 1.0,
        "fresh": reading.coverage(wanted.about - said, passage.stems),
        "share": within[0].passage_share,
        "sentence": max(each.sentence_share for each in within),
        "named": float(within[0].is_named),
        "to": float(any(_names(each.passage, passage) for each in cited)),
        "from": float(any(_names(passage, each.passage) for each in cited)),
        "hinted": reading.coverage(wanted.hints, passage.stems),
    }


def _names(one: ResponsePassage, other: ResponsePassage) -> bool:
    """True if one passage speaks of another by its title."""
    return other.is_title_a_name and other.name.lower() in one.lower_text


def _says_what_is_asked(
    place: SentenceMatch, wanted: EntityQuery, reading: ParsedResponse
) -> tuple[float, int]:
    """Rank by the asked relation first: names often stand only in the title."""
    relation = reading.coverage(wanted.relation, place.sentence.stems)
    return 0.5 * place.sentence_share + relation, -place.sentence.order


def _subject_sentence(
    places: Sequence[SentenceMatch], wanted: EntityQuery, reading: ParsedResponse
) -> tuple[ScoredCandidate, float] | None:
    """The best sentence about the subject; the first one of equals."""
    if not places:
        return None

    def rank(place: SentenceMatch) -> tuple[bool, float, int]:
        by_name = subject_relevance(place.passage, wanted.subject) > 1
        share, order = _says_what_is_asked(place, wanted, reading)
        return by_name or mentions_subject(place.sentence, wanted.subject), share, order

    best = max(places, key=rank)
    return ScoredCandidate(best.sentence.text, best, 0.0), subject_confidence(best, wanted, reading)
