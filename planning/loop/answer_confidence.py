"""Compute the confidence of a loop's answer, and of its values: that of the weakest link."""

from collections.abc import Sequence

from holdfast.models.loop.loop_results import LinkStrength, LoopResult, ProvenSentence
from holdfast.planning.loop.value_proof import ValueProof

CONFIDENCE_BY_STRENGTH = {
    LinkStrength.STATED: 0.95,
    LinkStrength.IMPLIED: 0.8,
    LinkStrength.WEAK: 0.55,
}
"""Until answers are calibrated: what a judge's word is taken for."""
_RULES_ALONE = 0.8
"""The most that rules without a judge can show: that the quotes are there."""
_NOT_FOLLOWING = 0.4
_SENTENCE_LOST = 0.7
_UNNAMED = 0.8
"""The confidence of a value whose agent names none."""
_REFUSED = 0.5
"""The most for a value that no quote shows, as for an extracted one."""


def sentences_confidence(result: LoopResult) -> float | None:
    """Return the confidence of the proven sentences, whatever they answer; None without any."""
    links = [_confidence_of(each) for each in result.sentences]
    if not result.judged_by:
        links.append(_RULES_ALONE)
    return min(links) if result.sentences else None


def weakest_of(sentences: Sequence[ProvenSentence]) -> ProvenSentence | None:
    """Return the sentence that is shown least surely; None without any."""
    return min(sentences, key=_confidence_of, default=None)


def _confidence_of(sentence: ProvenSentence) -> float:
    return CONFIDENCE_BY_STRENGTH[sentence.strength]


def value_confidence(
    proof: ValueProof,
    given: float,
    *,
    is_judged: bool,
    follows: bool = True,
    based_on: Sequence[ProvenSentence] = (),
) -> float:
    """Return the confidence of a promised value, 0 to 1: that of its weakest link (REP-01).

    The agent's own confidence, that of what it was `given`, and that of the sentences that it
    `based_on` can only lower it. A value that is not stated follows from its quotes: without a
    judge nobody has confirmed that.
    """
    claimed = _UNNAMED if proof.claimed is None else max(0.0, min(1.0, proof.claimed))
    links = [claimed, CONFIDENCE_BY_STRENGTH[proof.strength], *map(_confidence_of, based_on)]
    if not proof.is_stated:
        links.append(CONFIDENCE_BY_STRENGTH[LinkStrength.IMPLIED] if is_judged else _REFUSED)
    if not proof.quotes:
        links.append(given)
    if not is_judged:
        links.append(_RULES_ALONE)
    if proof.why_refused:
        links.append(_REFUSED)
    if not follows:
        links.append(_NOT_FOLLOWING)
    return round(min(links), 3)


def answer_confidence(result: LoopResult) -> float | None:
    """Return the confidence of the answer, 0 to 1; None if there is no answer."""
    if not result.short:
        return None
    proven = sentences_confidence(result)
    if proven is None:
        return 0.0
    links = [proven]
    if not result.follows:
        links.append(_NOT_FOLLOWING)
    if result.dropped:
        links.append(_SENTENCE_LOST)
    return round(max(0.0, min(1.0, *links)), 3)
