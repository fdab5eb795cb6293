"""The condenser and the sentence checker by rules: quotes under their titles, and shared words."""

from roles.condenser import MOST_STATEMENTS, CondenserAnswer, CondenserTask
from roles.extractive.questions import analyse
from roles.extractive.synthesis import finding, once_each
from roles.extractive.text import stems
from roles.sentence_checker import (
    CitingSentence,
    SentenceCheckerAnswer,
    SentenceCheckerTask,
    SentenceVerdict,
    Support,
)
from roles.synthesiser import EvidenceItem

_ALL = 0.8
"""Share of a sentence's stems that its passages must have to carry it."""
_PART = 0.5


def condense(task: CondenserTask) -> CondenserAnswer:
    """The quotes that share most words with the question, in the order in which they were found."""
    wanted = frozenset(stems(analyse(task.question).text))
    items = once_each(task.evidence)

    def shared(item: EvidenceItem) -> int:
        return len(wanted & frozenset(stems(f"{item.title} {item.shows} {item.quote}")))

    chosen = {each.id for each in sorted(items, key=shared, reverse=True)[:MOST_STATEMENTS]}
    return CondenserAnswer(statements=[finding(each) for each in items if each.id in chosen])


def check_sentences(task: SentenceCheckerTask) -> SentenceCheckerAnswer:
    """A sentence is carried by passages that have nearly all of its words."""
    passages = {each.id: frozenset(stems(f"{each.title} {each.text}")) for each in task.passages}
    return SentenceCheckerAnswer(
        verdicts=[_verdict(each, passages) for each in task.sentences],
    )


def _verdict(sentence: CitingSentence, passages: dict[str, frozenset[str]]) -> SentenceVerdict:
    said = frozenset(stems(sentence.text))
    had = frozenset[str]().union(*(passages.get(name, frozenset()) for name in sentence.cites))
    share = len(said & had) / len(said) if said else 1.0
    missing = ", ".join(sorted(said - had)[:5])
    if share >= _ALL:
        return SentenceVerdict(id=sentence.id, verdict=Support.SUPPORTED)
    verdict = Support.PARTLY if share >= _PART else Support.UNSUPPORTED
    return SentenceVerdict(id=sentence.id, verdict=verdict, why=f"not said: {missing}")
