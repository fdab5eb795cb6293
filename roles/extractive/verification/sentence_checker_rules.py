"""Sentence checker by rules: compare a sentence's words with those of its passages.

Reports of other models need these rules too: where a job's budget has no room for another call of
its model, the built-in model checks the report.
"""

from holdfast.roles.extractive.text.words_and_sentences import stems
from holdfast.roles.verification.sentence_checker import (
    CitingSentence,
    SentenceCheckerAnswer,
    SentenceCheckerTask,
    SentenceVerdict,
    SupportLevel,
)

_SUPPORTED_SHARE = 0.8
"""The share of a sentence's stems that its passages must have to support the sentence."""
_PARTLY_SHARE = 0.5


def check_sentences(task: SentenceCheckerTask) -> SentenceCheckerAnswer:
    """Judge each sentence by the share of its words that its passages have."""
    passages = {each.id: frozenset(stems(f"{each.title} {each.text}")) for each in task.passages}
    return SentenceCheckerAnswer(
        verdicts=[_verdict(each, passages) for each in task.sentences],
    )


def _verdict(sentence: CitingSentence, passages: dict[str, frozenset[str]]) -> SentenceVerdict:
    said = frozenset(stems(sentence.text))
    had = frozenset[str]().union(*(passages.get(name, frozenset()) for name in sentence.cites))
    share = len(said & had) / len(said) if said else 1.0
    missing = ", ".join(sorted(said - had)[:5])
    if share >= _SUPPORTED_SHARE:
        return SentenceVerdict(id=sentence.id, verdict=SupportLevel.SUPPORTED)
    verdict = SupportLevel.PARTLY if share >= _PARTLY_SHARE else SupportLevel.UNSUPPORTED
    return SentenceVerdict(id=sentence.id, verdict=verdict, why=f"not said: {missing}")
