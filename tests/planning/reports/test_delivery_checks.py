"""Tests for the delivery checks of a report: each check fails unless its condition is proven."""

import hashlib
from datetime import UTC, datetime
from typing import Any

import pytest

from holdfast.models.evidence.evidence import (
    Citation,
    DeliveryCheck,
    Report,
    ReportContradiction,
    ReportStatement,
    StoredEvidence,
)
from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.verification.verification_verdicts import Contradiction
from holdfast.planning.reports.delivery_checks import (
    DeliveryFacts,
    failed_checks,
    job_delivery_checks,
    report_delivery_checks,
)
from tests.support.jobs.plan_builders import final_task, lookup_task, plan

TEXT = "Selby Bridge was opened in 1932."
DONE = plan(
    lookup_task("T1", status=TaskStatus.DONE), final_task("T2", "T1", status=TaskStatus.DONE)
)


def item(**changes: Any) -> StoredEvidence:
    given: dict[str, Any] = {
        "id": 7,
        "task_id": "T1",
        "entity": "value",
        "source_id": 3,
        "address": "bridge.md",
        "title": "Bridge",
        "source_text": TEXT,
        "source_start": 0,
        "start": 0,
        "end": 12,
        "quote": "Selby Bridge",
        "sha256": hashlib.sha256(TEXT.encode()).hexdigest(),
        "fetched_at": datetime.now(UTC),
    }
    return StoredEvidence(**(given | changes))


def report(*gaps: str, answer: str | None = "1932", marks: tuple[int, ...] = (1,)) -> Report:
    found = item()
    citation = Citation(
        mark=1,
        evidence_id=found.id,
        source_id=3,
        address=found.address,
        title=found.title,
        heading="",
        start=0,
        end=12,
        quote=found.quote,
        sha256=found.sha256,
    )
    told = ReportStatement(text="It was opened in 1932.", marks=marks)
    return Report(
        question="When?", answer=answer, summary=(told,), gaps=gaps, citations=(citation,)
    )


def failed(
    facts: DeliveryFacts, told: Report, *, tasks: Plan = DONE, found: StoredEvidence | None = None
) -> list[DeliveryCheck]:
    return list(failed_checks(report_delivery_checks(tasks, facts, told, [found or item()])))


@pytest.mark.conformance("WAVE-07")
def test_a_report_in_which_all_is_proven_passes() -> None:
    checks = report_delivery_checks(DONE, DeliveryFacts(), report(), [item()])

    assert [check.name for check in checks] == [
        "tasks",
        "questions",
        "contradictions",
        "citations",
        "spend",
    ]
    assert failed_checks(checks) == ()
    assert [check.detail for check in checks] == [
        "2 of 2 done",
        "none",
        "none found",
        "the quote was found in its source",
        "every call is accounted for",
    ]


@pytest.mark.conformance("WAVE-07")
@pytest.mark.parametrize("status", [TaskStatus.FAILED, TaskStatus.PENDING, TaskStatus.CANCELLED])
def test_a_task_that_is_not_done_must_be_named_as_a_gap(status: TaskStatus) -> None:
    tasks = plan(*DONE.tasks, lookup_task("T3", status=status))

    [check] = failed(DeliveryFacts(), report(), tasks=tasks)
    assert (check.name, "T3" in check.detail) == ("tasks", True)
    assert failed(DeliveryFacts(), report("Not found: find value for T3"), tasks=tasks) == []


@pytest.mark.conformance("WAVE-07")
def test_a_task_that_still_runs_fails_the_check_whatever_the_report_says() -> None:
    tasks = plan(*DONE.tasks, lookup_task("T3", status=TaskStatus.RUNNING))

    assert [check.name for check in failed(DeliveryFacts(), report("T3: x"), tasks=tasks)] == [
        "tasks"
    ]


def test_what_was_replaced_and_the_steps_of_agents_are_not_required() -> None:
    old = lookup_task("T3", status=TaskStatus.SUPERSEDED)
    step = lookup_task("T1.1", status=TaskStatus.FAILED, parent="T1")

    assert failed(DeliveryFacts(), report(), tasks=plan(*DONE.tasks, old, step)) == []


@pytest.mark.conformance("WAVE-07")
def test_an_open_question_and_a_call_without_an_outcome_fail_their_checks() -> None:
    facts = DeliveryFacts(open_questions=(4,), calls_without_outcome=("extractor of T2",))

    assert {check.name for check in failed(facts, report())} == {"questions", "spend"}
    early = failed_checks(job_delivery_checks(facts, [item()]))
    assert {check.name for check in early} == {"questions", "spend"}
    assert "question 4 is open" in early[0].detail


@pytest.mark.conformance("WAVE-07", "WAVE-08")
def test_a_contradiction_must_be_settled_or_shown_with_both_sides() -> None:
    open_one = Contradiction(one="It was 1932.", other="It was 1933.", tasks=("T1", "T2"))
    settled = open_one.model_copy(update={"settled_by": "T5"})
    sides = ReportContradiction(
        one=ReportStatement(text="It was 1932."), other=ReportStatement(text="It was 1933.")
    )
    shown = report().model_copy(update={"contradictions": (sides,)})

    assert [g.name for g in failed(DeliveryFacts(contradictions=(open_one,)), report())] == [
        "contradictions"
    ]
    assert failed(DeliveryFacts(contradictions=(open_one,)), shown) == []
    assert failed(DeliveryFacts(contradictions=(settled,)), report()) == []


@pytest.mark.conformance("WAVE-07", "VMAO-11")
@pytest.mark.parametrize(
    "changes",
    [
        {"source_text": TEXT.replace("Selby", "Selbi")},
        {"start": 1, "end": 13},
        {"quote": "Selby Ladder"},
        {"sha256": "0" * 64},
        {"id": 8},
    ],
    ids=["source", "place", "quote", "hash", "not active"],
)
def test_a_citation_that_does_not_resolve_fails_the_check(changes: dict[str, Any]) -> None:
    [check] = failed(DeliveryFacts(), report(), found=item(**changes))

    assert check.name == "citations"


@pytest.mark.conformance("VMAO-11")
@pytest.mark.parametrize("changes", [{"address": ""}, {"quote": "Selby"}], ids=["place", "quote"])
def test_a_citation_without_a_place_or_with_other_words_than_its_evidence_fails_the_check(
    changes: dict[str, str],
) -> None:
    told = report()
    citations = (told.citations[0].model_copy(update=changes),)

    [check] = failed(DeliveryFacts(), told.model_copy(update={"citations": citations}))

    assert check.name == "citations"


@pytest.mark.conformance("VMAO-11")
def test_a_mark_without_a_citation_fails_the_check() -> None:
    [check] = failed(DeliveryFacts(), report(marks=(1, 2)))

    assert "mark 2" in check.detail


def test_evidence_that_does_not_resolve_is_refused_before_anything_is_written() -> None:
    assert [
        check.name
        for check in failed_checks(job_delivery_checks(DeliveryFacts(), [item(quote="x")]))
    ] == ["evidence"]
