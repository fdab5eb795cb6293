"""The passage that says most of what is asked, or that best bears out one already cited."""

from collections.abc import Mapping, Sequence

from roles.extractive.reading import Passage, Reading
from roles.extractive.scoring import Scored, probability
from roles.extractive.subjects import about_subject, mentions_subject, sure_of_subject
from roles.extractive.wanted import Place, Wanted

# Fitted like the weights of candidates, on whether the passage is one that the answer needs.
# The first passage must say it itself; a second one is told by its link to the first.
FIRST: Mapping[str, float] = {
    "bias": -0.9, "share": 2.0, "sentence": 2.1, "named": 2.4,
}  # fmt: skip
SECOND: Mapping[str, float] = {
    "bias": -2.2, "fresh": 2.0, "share": 0.5, "sentence": 1.5, "named": 2.0,
    "to": 2.5, "from": 0.1, "hinted": 1.1,
}  # fmt: skip


def best_sentence(
    places: Sequence[Place], cited: Sequence[Place], reading: Reading, wanted: Wanted
) -> tuple[Scored, float] | None:
    """The sentence that says most of what the cited ones leave unsaid, and how sure it is."""
    if wanted.subject:
        return _subject_sentence(places, wanted, reading)
    used = {id(each.passage) for each in cited}
    by_passage: dict[int, list[Place]] = {}
    for each in places:
        if id(each.passage) not in used:
            by_passage.setdefault(id(each.passage), []).append(each)
    if not by_passage:
        return None
    scored = [(_score(some, cited, reading, wanted), some) for some in by_passage.values()]
    score, within = max(scored, key=lambda pair: pair[0])
    best = max(within, key=lambda each: _says_what_is_asked(each, wanted, reading))
    return Scored(best.sentence.text, best, score), probability(score)


def _score(
    within: Sequence[Place], cited: Sequence[Place], reading: Reading, wanted: Wanted
) -> float:
    weights = SECOND if cited else FIRST
    features = passage_features(within, cited, reading, wanted)
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


def passage_features(
    within: Sequence[Place], cited: Sequence[Place], reading: Reading, wanted: Wanted
) -> dict[str, float]:
    """What speaks for the passage in which these places are."""
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


def _names(one: Passage, other: Passage) -> bool:
    """Whether one passage speaks of another by its title."""
    return other.is_a_name and other.name.lower() in one.folded


def _says_what_is_asked(place: Place, wanted: Wanted, reading: Reading) -> tuple[float, int]:
    """The asked relation weighs most: names are often only in the title or a sentence before."""
    relation = reading.coverage(wanted.relation, place.sentence.stems)
    return 0.5 * place.sentence_share + relation, -place.sentence.order


def _subject_sentence(
    places: Sequence[Place], wanted: Wanted, reading: Reading
) -> tuple[Scored, float] | None:
    """The sentence about the subject that says most; its first one where none says more."""
    if not places:
        return None

    def rank(place: Place) -> tuple[bool, float, int]:
        by_name = about_subject(place.passage, wanted.subject) > 1
        share, order = _says_what_is_asked(place, wanted, reading)
        return by_name or mentions_subject(place.sentence, wanted.subject), share, order

    best = max(places, key=rank)
    return Scored(best.sentence.text, best, 0.0), sure_of_subject(best, wanted, reading)
