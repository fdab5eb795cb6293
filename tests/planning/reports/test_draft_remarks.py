"""Tests that limits and gaps of a draft name only what was asked or read."""

from holdfast.models.reports.report_writer_messages import (
    ConclusionDraft,
    Statement,
    SynthesiserAnswer,
)
from holdfast.planning.reports.draft_remarks import with_supported_remarks


def test_limits_and_gaps_that_no_source_carries_are_dropped() -> None:
    conclusions = [
        ConclusionDraft(text="It lasted.", confidence=0.5, limits=limits)
        for limits in ("Only Selby Bridge was read about.", "York Bridge cost 700 pounds.")
    ]
    draft = SynthesiserAnswer(
        summary=[Statement(text="It lasted.")],
        conclusions=conclusions,
        gaps=["What it cost in 1932 stays open.", "It cost 800 pounds in 1931."],
    )

    kept = with_supported_remarks(draft, ["Selby Bridge is old."], ["What did it cost in 1932?"])

    assert [each.limits for each in kept.conclusions] == [conclusions[0].limits, ""]
    assert kept.gaps == draft.gaps[:1]
    assert kept.summary == draft.summary
