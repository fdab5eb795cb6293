"""Define the output of `holdfast source` and `holdfast trace`: sources and provenance."""

from datetime import datetime
from typing import Any

from pydantic import JsonValue

from holdfast.models.evidence.evidence import Citation, EvidenceLevel
from holdfast.models.evidence.source_checks import StoredSourceCheck
from holdfast.models.frozen_model import Frozen


class SourceUse(Frozen):
    """A piece of evidence that quotes a source: `text[start:end]` is the quote."""

    evidence_id: int
    job_id: str
    task_id: str
    entity: str
    status: str
    start: int
    end: int
    check: StoredSourceCheck | None = None
    """The change found when the source was read again."""


class SourceView(Frozen):
    """`holdfast source ID`: the stored text, its origin, and the evidence that quotes it."""

    id: int
    address: str
    title: str
    heading: str
    date: str
    """The publication date as the tool reported it; empty if unknown."""
    tool: str
    via: str
    fetched_at: datetime
    sha256: str
    start: int
    """The offset of the text in its document."""
    end: int
    text: str
    is_intact: bool
    """True if the stored text still has its hash."""
    evidence: tuple[SourceUse, ...]


class LedgerCall(Frozen):
    """A call of the ledger that led to a citation."""

    id: int
    name: str
    """The name of the tool or model."""
    role: str = ""
    task_id: str
    attempt: int
    part: str
    status: str
    arguments: dict[str, Any] | None = None
    """The arguments of a tool call; None for a model call."""
    request_hash: str
    started_at: datetime
    finished_at: datetime | None
    sends: int
    reused: int
    """The number of times the recorded answer replaced a new call after a restart."""
    recovered_in: int | None = None
    """The recovery in which the call was reused or sent again."""
    repeated_call_id: int | None = None
    """The earlier identical call whose answer was used."""


class TemporalLocation(Frozen):
    """The place of the work in Temporal's history; `missing` says what is not there."""

    workflow_id: str
    run_id: str | None = None
    activity_id: str
    scheduled_event: int | None = None
    closed_event: int | None = None
    outcome: str = ""
    """How the activity closed: completed, failed, timed_out, canceled."""
    missing: str = ""
    url: str | None = None


class MarkedSentence(Frozen):
    """A sentence with the citation mark, and the model call that wrote the sentence."""

    part: str
    """The section: summary, findings, analysis, conclusions or contradictions."""
    text: str
    written_by: LedgerCall | None = None
    note: str = ""
    """The author of the words if no model wrote them."""
    level: EvidenceLevel | None = None
    """The level of its evidence; None in reports of earlier releases."""


class Provenance(Frozen):
    """`holdfast trace JOB MARK`: a sentence with its passage, calls and Temporal events."""

    job_id: str
    mark: int
    sentences: tuple[MarkedSentence, ...]
    writing: TemporalLocation
    """The activity that wrote the report."""
    citation: Citation
    task_id: str
    attempt: int
    entity: str
    value: JsonValue
    status: str
    """The status of the evidence: active, superseded or retracted."""
    resolves: bool
    """True if the quote is at its place in the stored text and the text has its hash."""
    source_start: int
    """Offset of the quote in the stored text of the source."""
    source_end: int
    check: StoredSourceCheck | None = None
    fetched_by: LedgerCall | None = None
    """The tool call whose recorded answer holds the passage."""
    repeated: LedgerCall | None = None
    """The earlier call whose answer `fetched_by` used, if it was not sent itself."""
    extracted_by: LedgerCall | None = None
    """The model call that extracted the value; None if rules located it."""
    working: TemporalLocation
    """The activity that fetched and extracted."""
    notes: tuple[str, ...] = ()
