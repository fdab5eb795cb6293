"""Compute the confidence of a loop's answer: that of its weakest link."""

from collections.abc import Iterable

from holdfast.models.loop.loop_results import LinkStrength, LoopResult

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


def sentences_confidence(result: LoopResult) -> float | None:
    """Return the confidence of the proven sentences, whatever they answer; None without any."""
    links = [CONFIDENCE_BY_STRENGTH[each.strength] for each in result.sentences]
    if not result.judged_by:
        links.append(_RULES_ALONE)
    return min(links) if result.sentences else None


def answer_confidence(result: LoopResult, claimed: Iterable[float | None] = ()) -> float | None:
    """Return the confidence of the answer, 0 to 1; None if there is no answer.

    `claimed` are the confidences that the agent itself gave; they can only lower it.
    """
    if not result.short:
        return None
    if not result.sentences:
        return 0.0
    links = [CONFIDENCE_BY_STRENGTH[each.strength] for each in result.sentences]
    links += [each for each in claimed if each is not None]
    if not result.judged_by:
        links.append(_RULES_ALONE)
    if not result.follows:
        links.append(_NOT_FOLLOWING)
    if result.dropped:
        links.append(_SENTENCE_LOST)
    return round(max(0.0, min(1.0, *links)), 3)
