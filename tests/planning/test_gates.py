"""The gates before delivery: each is closed unless it is proven open."""

import hashlib
from datetime import UTC, datetime
from typing import Any

import pytest

from models.evidence import BothSides, Citation, Gate, Report, ReportStatement, StoredEvidence
from models.plan import Plan, TaskStatus
from models.verification import Contradiction
from planning.gates import GateFacts, closed, gates_of_job, gates_of_report
from tests.support.plans import final, plan, tool

TEXT = "Selby Bridge was opened in 1932."
DONE = plan(tool("T1", status=TaskStatus.DONE), final("T2", "T1", status=TaskStatus.DONE))


def item(**changes: Any) -> StoredEvidence:
    given: dict[str, Any] = {
        "id": 7, "task_id": "T1", "entity": "value", "source_id": 3, "address": "bridge.md",
        "title": "Bridge", "source_text": TEXT, "source_start": 0, "start": 0, "end": 12,
        "quote": "Selby Bridge", "sha256": hashlib.sha256(TEXT.encode()).hexdigest(),
        "fetched_at": datetime.now(UTC),
    }  # fmt: skip
    return StoredEvidence(**(given | changes))


def report(*gaps: str, answer: str | None = "1932", marks: tuple[int, ...] = (1,)) -> Report:
    found = item()
    citation = Citation(
        mark=1, evidence_id=found.id, source_id=3, address=found.address, title=found.title,
        heading="", start=0, end=12, quote=found.quote, sha256=found.sha256,
    )  # fmt: skip
    told = ReportStatement(text="It was opened in 1932.", marks=marks)
    return Report(
        question="When?", answer=answer, summary=(told,), gaps=gaps, citations=(citation,)
    )


def shut(
    facts: GateFacts, told: Report, *, tasks: Plan = DONE, found: StoredEvidence | None = None
) -> list[Gate]:
    return list(closed(gates_of_report(tasks, facts, told, [found or item()])))


@pytest.mark.conformance("WAVE-07")
def test_a_report_in_which_all_is_proven_passes() -> None:
    gates = gates_of_report(DONE, GateFacts(), report(), [item()])

    assert [gate.name for gate in gates] == [
        "tasks", "questions", "contradictions", "citations", "spend",
    ]  # fmt: skip
    assert closed(gates) == ()
    assert all(gate.seen for gate in gates)


@pytest.mark.conformance("WAVE-07")
@pytest.mark.parametrize("status", [TaskStatus.FAILED, TaskStatus.PENDING, TaskStatus.CANCELLED])
def test_a_task_that_is_not_done_must_be_named_as_a_gap(status: TaskStatus) -> None:
    tasks = plan(*DONE.tasks, tool("T3", status=status))

    [gate] = shut(GateFacts(), report(), tasks=tasks)
    assert (gate.name, "T3" in gate.seen) == ("tasks", True)
    assert shut(GateFacts(), report("T3: find value"), tasks=tasks) == []


@pytest.mark.conformance("WAVE-07")
def test_a_task_that_still_runs_keeps_the_gate_closed_whatever_the_report_says() -> None:
    tasks = plan(*DONE.tasks, tool("T3", status=TaskStatus.RUNNING))

    assert [gate.name for gate in shut(GateFacts(), report("T3: x"), tasks=tasks)] == ["tasks"]


def test_what_was_replaced_and_the_steps_of_agents_are_not_required() -> None:
    old = tool("T3", status=TaskStatus.SUPERSEDED)
    step = tool("T1.1", status=TaskStatus.FAILED, parent="T1")

    assert shut(GateFacts(), report(), tasks=plan(*DONE.tasks, old, step)) == []


@pytest.mark.conformance("WAVE-07")
def test_an_open_question_and_a_call_without_an_outcome_close_their_gates() -> None:
    facts = GateFacts(open_questions=(4,), unrecorded=("extractor of T2",))

    assert {gate.name for gate in shut(facts, report())} == {"questions", "spend"}
    early = closed(gates_of_job(facts, [item()]))
    assert {gate.name for gate in early} == {"questions", "spend"}
    assert "question 4 is open" in early[0].seen


@pytest.mark.conformance("WAVE-07", "WAVE-08")
def test_a_contradiction_must_be_settled_or_shown_with_both_sides() -> None:
    open_one = Contradiction(one="It was 1932.", other="It was 1933.", tasks=("T1", "T2"))
    settled = open_one.model_copy(update={"settled_by": "T5"})
    sides = BothSides(
        one=ReportStatement(text="It was 1932."), other=ReportStatement(text="It was 1933.")
    )
    shown = report().model_copy(update={"contradictions": (sides,)})

    assert [g.name for g in shut(GateFacts(contradictions=(open_one,)), report())] == [
        "contradictions"
    ]
    assert shut(GateFacts(contradictions=(open_one,)), shown) == []
    assert shut(GateFacts(contradictions=(settled,)), report()) == []


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
def test_a_citation_that_does_not_resolve_closes_the_gate(changes: dict[str, Any]) -> None:
    [gate] = shut(GateFacts(), report(), found=item(**changes))

    assert gate.name == "citations"


@pytest.mark.conformance("VMAO-11")
def test_a_mark_without_a_citation_closes_the_gate() -> None:
    [gate] = shut(GateFacts(), report(marks=(1, 2)))

    assert "mark 2" in gate.seen


def test_evidence_that_does_not_resolve_is_refused_before_anything_is_written() -> None:
    assert [gate.name for gate in closed(gates_of_job(GateFacts(), [item(quote="x")]))] == [
        "evidence"
    ]
