"""Rate whether a passage or a sentence is about a given subject."""

from holdfast.roles.extractive.extraction.entity_query import EntityQuery, SentenceMatch
from holdfast.roles.extractive.extraction.response_passages import (
    ParsedResponse,
    ResponsePassage,
    ResponseSentence,
)
from holdfast.roles.extractive.text.words_and_sentences import stem, stems


def subject_relevance(passage: ResponsePassage, subject: str) -> int:
    """3 when the passage has the subject's name, 2 nearly so, 1 when it mentions it, else 0."""
    folded, told = subject.lower().strip(), frozenset(stems(subject))
    if passage.name.lower() == folded or (told and told == passage.title_stems):
        return 3
    if passage.title_stems and (told <= passage.title_stems or passage.title_stems <= told):
        return 2
    return int(folded in passage.lower_text or (bool(told) and told <= passage.stems))


MENTION_STEM = stem("mention")
"""The noun of an entity that is content with any sentence in which the subject is named."""
_CONFIDENCE_BY_RELEVANCE = {3: 0.9, 2: 0.75, 1: 0.6, 0: 0.4}


def subject_confidence(place: SentenceMatch, wanted: EntityQuery, reading: ParsedResponse) -> float:
    """By whether the passage has the subject's name, or else its sentence says it."""
    level = subject_relevance(place.passage, wanted.subject)
    mentions = mentions_subject(place.sentence, wanted.subject)
    if mentions and level < 3 and MENTION_STEM in wanted.noun:
        return 0.75
    if level == 1 and mentions:
        return 0.65 + 0.15 * reading.coverage(wanted.relation, place.sentence.stems)
    return _CONFIDENCE_BY_RELEVANCE[level]


def mentions_subject(sentence: ResponseSentence, subject: str) -> bool:
    """True if the sentence itself says the subject's name, or its last word."""
    told = stems(subject)
    return bool(told) and told[-1] in sentence.stems
