"""Tests for the words of a crash receipt on the page."""

import re
from datetime import UTC, datetime

import pytest

from holdfast.models.jobs.job_recovery import LossCause, Recovery, ResentCalls, ReusedCalls
from holdfast.web.rendering.page_templates import _environment

AT = datetime(2026, 11, 28, 14, 3, 22, tzinfo=UTC)
NOTHING = "No finished call was needed again; no call in flight was lost."


def receipt(cause: LossCause, reused: ReusedCalls, sent_again: ResentCalls) -> str:
    recovery = Recovery(
        number=1,
        cause=cause,
        lost_worker="4021@host",
        last_seen_at=AT,
        resumed_at=AT,
        seconds_until_resumed=0.5,
        reused=reused,
        sent_again=sent_again,
        seconds_to_end=None,
    )
    template = _environment().get_template("crash_receipt.html.jinja")
    shown = template.module.receipt(recovery)  # type: ignore[attr-defined]  # a macro
    return " ".join(re.sub("<[^>]*>", "", shown).split())


@pytest.mark.parametrize(
    ("cause", "loss"),
    [
        (LossCause.WORKER, "A worker was lost at"),
        (LossCause.DATABASE, "PostgreSQL went away at"),
    ],
)
def test_a_receipt_that_cost_and_saved_nothing_says_so(cause: LossCause, loss: str) -> None:
    shown = receipt(cause, ReusedCalls(), ResentCalls())

    assert shown.startswith(f"Crash receipt 1. {loss}")
    assert shown.endswith(NOTHING)


def test_a_receipt_counts_what_was_saved_and_what_was_sent_again() -> None:
    shown = receipt(LossCause.WORKER, ReusedCalls(model=2, tokens=1_200), ResentCalls(tool=1))

    assert "2 finished calls (1,200 tokens) were used again and not paid again" in shown
    assert shown.endswith("; 1 call in flight was sent again.")
