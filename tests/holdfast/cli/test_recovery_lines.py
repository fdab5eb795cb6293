"""Tests for crash receipts as printed lines."""

from datetime import UTC, datetime, timedelta

from holdfast.cli.render.recovery_lines import recovery_lines
from holdfast.models.jobs.job_recovery import LossCause, Recovery, ResentCalls, ReusedCalls

_LOST_AT = datetime(2026, 11, 21, 14, 3, 22, tzinfo=UTC)


def receipt(**facts: object) -> Recovery:
    ordinary = {
        "number": 1,
        "cause": LossCause.WORKER,
        "lost_worker": "17@host#a1",
        "last_seen_at": _LOST_AT,
        "resumed_at": _LOST_AT + timedelta(seconds=0.44),
        "seconds_until_resumed": 0.44,
        "reused": ReusedCalls(model=5, tool=1, tokens=12340),
        "sent_again": ResentCalls(model=1),
        "seconds_to_end": 12.34,
    }
    return Recovery.model_validate(ordinary | facts)


def test_a_receipt_says_who_died_what_that_cost_and_what_was_saved() -> None:
    lost, saved = recovery_lines(receipt())

    assert (
        lost == "recovery 1: worker 17@host#a1 was lost at 14:03:22 UTC; work continued 0.4 s later"
    )
    assert saved == (
        "  5 model calls and 1 tool call that had cost 12,340 tokens reused, not paid again; "
        "1 model call in flight sent again; the job ended 12.3 s after the loss"
    )


def test_a_receipt_of_an_outage_without_calls_says_so() -> None:
    nothing = receipt(
        cause=LossCause.DATABASE,
        lost_worker="",
        reused=ReusedCalls(),
        sent_again=ResentCalls(),
        seconds_to_end=None,
    )

    assert recovery_lines(nothing) == [
        "recovery 1: PostgreSQL went away at 14:03:22 UTC; work continued 0.4 s later",
        "  no finished call was needed again; no call in flight was lost",
    ]


def test_a_worker_whose_name_nobody_knows_has_none() -> None:
    assert "a worker was lost at" in recovery_lines(receipt(lost_worker=""))[0]
