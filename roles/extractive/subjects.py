"""Whether a passage or a sentence speaks of the one thing that a value must be said of."""

from roles.extractive.reading import Passage, Reading, Sentence
from roles.extractive.text import stem, stems
from roles.extractive.wanted import Place, Wanted


def about_subject(passage: Passage, subject: str) -> int:
    """3 when the passage has the subject's name, 2 nearly so, 1 when it mentions it, else 0."""
    folded, told = subject.lower().strip(), frozenset(stems(subject))
    if passage.name.lower() == folded or (told and told == passage.title_stems):
        return 3
    if passage.title_stems and (told <= passage.title_stems or passage.title_stems <= told):
        return 2
    return int(folded in passage.folded or (bool(told) and told <= passage.stems))


MENTION = stem("mention")
"""The noun of an entity that is content with any sentence in which the subject is named."""
_SURE_OF_SUBJECT = {3: 0.9, 2: 0.75, 1: 0.6, 0: 0.4}


def sure_of_subject(place: Place, wanted: Wanted, reading: Reading) -> float:
    """By whether the passage has the subject's name, or else its sentence says it."""
    level = about_subject(place.passage, wanted.subject)
    mentions = mentions_subject(place.sentence, wanted.subject)
    if mentions and level < 3 and MENTION in wanted.noun:
        return 0.75
    if level == 1 and mentions:
        return 0.65 + 0.15 * reading.coverage(wanted.relation, place.sentence.stems)
    return _SURE_OF_SUBJECT[level]


def mentions_subject(sentence: Sentence, subject: str) -> bool:
    """Whether the sentence itself says the subject's name, or its last word."""
    told = stems(subject)
    return bool(told) and told[-1] in sentence.stems
