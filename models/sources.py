"""A stored source as people see it, and where a sentence of a report comes from."""

from datetime import datetime
from typing import Any

from pydantic import JsonValue

from models.base import Frozen
from models.checks import KeptCheck
from models.evidence import Citation


class SourceUse(Frozen):
    """A piece of evidence that quotes a source: `text[start:end]` is the quote."""

    evidence_id: int
    job_id: str
    task_id: str
    entity: str
    status: str
    start: int
    end: int
    check: KeptCheck | None = None
    """What became of it when the source was read again."""


class SourceView(Frozen):
    """`holdfast source ID`: what was read, where, when and by which tool; and who quotes it."""

    id: int
    address: str
    title: str
    heading: str
    date: str
    """When it was published, as the tool said it; empty: unknown."""
    tool: str
    via: str
    fetched_at: datetime
    sha256: str
    start: int
    """Where the text starts in the document."""
    end: int
    text: str
    is_intact: bool
    """Whether the text still has its hash."""
    evidence: tuple[SourceUse, ...]


class CallRecord(Frozen):
    """A call of the ledger that a citation goes back to."""

    id: int
    name: str
    """The tool, or the model."""
    role: str = ""
    task_id: str
    attempt: int
    part: str
    status: str
    arguments: dict[str, Any] | None = None
    """A tool's; none for a model's, whose request is long."""
    request_hash: str
    started_at: datetime
    finished_at: datetime | None
    sends: int
    reused: int
    """How often the recorded answer was used after a restart, instead of calling again."""
    recovered_in: int | None = None
    """The recovery of the job in which it was answered from record or sent again."""
    repeats: int | None = None
    """The earlier identical call of the job whose answer was taken."""


class TemporalPlace(Frozen):
    """Where Temporal's history has the work; what it does not have, `missing` says plainly."""

    workflow_id: str
    run_id: str | None = None
    activity_id: str
    scheduled_event: int | None = None
    closed_event: int | None = None
    outcome: str = ""
    """How the activity closed: completed, failed, timed_out, canceled."""
    missing: str = ""
    url: str | None = None


class Sentence(Frozen):
    """A sentence that carries the mark, and the model call that wrote it."""

    part: str
    """Where it stands: summary, findings, analysis, conclusions, contradictions."""
    text: str
    written_by: CallRecord | None = None
    note: str = ""
    """Where no model wrote it in these words: who did."""


class Provenance(Frozen):
    """`holdfast trace JOB MARK`: from a sentence back to what was read, and who did what."""

    job_id: str
    mark: int
    sentences: tuple[Sentence, ...]
    writing: TemporalPlace
    """The activity that wrote the report."""
    citation: Citation
    task_id: str
    attempt: int
    entity: str
    value: JsonValue
    status: str
    """Of the evidence: active, superseded, retracted."""
    resolves: bool
    """Whether the quote stands at its place in the stored text, which still has its hash."""
    source_start: int
    """Offset of the quote in the stored text of the source."""
    source_end: int
    check: KeptCheck | None = None
    fetched_by: CallRecord | None = None
    """The tool call whose recorded answer holds the passage."""
    repeated: CallRecord | None = None
    """The earlier call that `fetched_by` took its answer from, where it was not sent itself."""
    extracted_by: CallRecord | None = None
    """The model call that read the value out of the passage; none where rules located it."""
    working: TemporalPlace
    """The activity that did both."""
    notes: tuple[str, ...] = ()
