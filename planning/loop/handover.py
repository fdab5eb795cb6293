"""Decide whether an opening loop has answered its question, or why the planner takes over."""

from holdfast.models.loop.loop_handover import Handover, HandoverCause
from holdfast.models.loop.loop_results import LoopResult
from holdfast.models.text.terminal_text import shorten_text

_MAX_WHY = 400
_NO_ANSWER = "no answer was found"


def handover_of(result: LoopResult, limit: str, least: float) -> Handover | None:
    """Return why a plan is needed; None if the loop answered and its answer is proven.

    `limit` is the reason for which the loop had to answer, if it had to. An answer is refused if
    its confidence is less than `least` (`loop_confidence`).
    """
    if result.sub_questions:
        why = f"the question is wide: {len(result.sub_questions)} sub-questions"
        return _handover(HandoverCause.WIDE, why)
    if not result.short:
        cause = HandoverCause.LIMIT if limit else HandoverCause.OPEN
        return _handover(cause, limit or _NO_ANSWER)
    why_refused = _refusal(result, least)
    return _handover(HandoverCause.REFUSED, why_refused) if why_refused else None


def handover_in_words(result: LoopResult, handover: Handover) -> str:
    """Return why a plan is needed with what was not found, for people who see nothing else."""
    if handover.cause not in (HandoverCause.OPEN, HandoverCause.LIMIT):
        return handover.why
    missing = f"not found: {'; '.join(result.open)}" if result.open else _NO_ANSWER
    is_limit = handover.cause is HandoverCause.LIMIT
    return shorten_text(f"{handover.why}; {missing}" if is_limit else missing, _MAX_WHY)


def open_links(result: LoopResult) -> tuple[str, ...]:
    """Return what is left to find out, each in a line."""
    refused = (f"shown by no quote yet: {each.text}" for each in result.dropped)
    possible = [f"whether this is the answer: {result.short}"] if result.short else []
    return tuple(dict.fromkeys((*result.sub_questions, *result.open, *refused, *possible)))


def _handover(cause: HandoverCause, why: str) -> Handover:
    return Handover(cause=cause, why=shorten_text(why, _MAX_WHY))


def _refusal(result: LoopResult, least: float) -> str:
    """Return what the proof refuses in the answer; empty: nothing that it needs."""
    if not result.sentences:
        return f"no quote shows the answer {result.short!r}"
    if not result.follows:
        return f"the sentences that are shown do not give the answer {result.short!r}"
    if result.confidence is not None and result.confidence < least:
        return (
            f"the weakest link of the answer {result.short!r} is shown with a confidence of "
            f"{result.confidence:g}, and {least:g} is needed (loop_confidence)"
        )
    return ""
