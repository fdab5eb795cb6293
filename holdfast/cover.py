"""How a report was checked, in lines: its sentences, why verifying stopped, and the gates."""

from collections.abc import Iterable

from models.evidence import Cover, Gate, Report
from models.verification import StopCondition

_STOPS = {
    StopCondition.READY: "enough of the sub-questions were complete",
    StopCondition.CONFIDENT: "the results were sure enough",
    StopCondition.DIMINISHING: "another round improved too little",
    StopCondition.TOKENS: "the token budget was spent",
    StopCondition.ITERATIONS: "the rounds were used up",
    StopCondition.NOTHING_LEFT: "there was nothing left to do",
}


def confidence_line(report: Report) -> list[str]:
    """How sure the answer is, where that is known."""
    return [] if report.confidence is None else [f"Confidence: {report.confidence:.0%}"]


def cover_lines(cover: Cover) -> list[str]:
    """What became of the sentences, and why verifying stopped."""
    checked_by = cover.checked_by or "rules alone"
    counts = f"{cover.kept} kept, {cover.hedged} hedged, {cover.dropped} dropped"
    lines = [f"Sentences: {cover.checked} checked by {checked_by}; {counts}"]
    if cover.stop is not None:
        lines.append(f"Verification stopped: {_STOPS[cover.stop]} ({cover.stop.value})")
    return lines


def gate_lines(gates: Iterable[Gate]) -> list[str]:
    """Each gate with what it saw."""
    return [f"Gate {gate.name}: {gate.seen}" for gate in gates]
