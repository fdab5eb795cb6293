"""Evidence: a quote, letter by letter, in a stored source; and what rests on it."""

import hashlib
from datetime import datetime
from enum import StrEnum

from pydantic import Field, JsonValue

from models.base import Frozen
from models.figures import ReportFigure
from models.tools import ReadPassage
from models.verification import StopCondition


class EvidenceStatus(StrEnum):
    """The life of a piece of evidence; only what is active supports anything."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    """Its task was worked again."""
    RETRACTED = "retracted"
    """Somebody took it back."""


class Located(Frozen):
    """A quote found in a passage: `passage.text[start:end]` is the quote."""

    entity: str
    passage: ReadPassage
    start: int
    end: int

    @property
    def quote(self) -> str:
        return self.passage.text[self.start : self.end]


class StoredEvidence(Frozen):
    """Evidence as PostgreSQL has it, with its source and what it shows."""

    id: int
    task_id: str
    entity: str
    description: str = ""
    value: JsonValue = None
    source_id: int
    address: str
    title: str
    heading: str = ""
    date: str = ""
    tool: str = ""
    via: str = ""
    source_text: str
    source_start: int
    """Where the source's text starts in the document at `address`."""
    start: int
    end: int
    quote: str
    sha256: str
    fetched_at: datetime

    @property
    def resolves(self) -> bool:
        """Whether the quote stands verbatim, at its place, in the source as it was read."""
        is_there = bool(self.quote) and self.source_text[self.start : self.end] == self.quote
        # PostgreSQL gives lone surrogates to nobody, so every stored text can be encoded.
        return is_there and hashlib.sha256(self.source_text.encode()).hexdigest() == self.sha256


class Citation(Frozen):
    """A mark of the report: where its passage stands, in characters of the document."""

    mark: int
    evidence_id: int
    source_id: int
    address: str
    title: str
    heading: str
    date: str = ""
    """When the document was published, as the tool said it; empty: unknown."""
    tool: str = ""
    """Which tool gave the passage; empty in reports of earlier releases."""
    via: str = ""
    """The user's own server on whose word address, title and date stand; empty: one of ours."""
    start: int
    end: int
    quote: str
    sha256: str
    fetched_at: datetime | None = None


class ReportStatement(Frozen):
    """A sentence of the report with its marks."""

    text: str
    marks: tuple[int, ...] = ()


class Conclusion(ReportStatement):
    """What follows from the findings, how sure that is, and where it ends."""

    confidence: float = Field(ge=0, le=1)
    limits: str = ""


class BothSides(Frozen):
    """Two claims that cannot both be true, each with the evidence it comes from."""

    one: ReportStatement
    other: ReportStatement
    settled_by: str = ""
    """The task that looked elsewhere and settled it; empty: it is open."""


class Retraction(Frozen):
    """Evidence that was taken back, and what had rested on it."""

    evidence_id: int
    task: str
    """The task of the plan that had found it."""
    entities: tuple[str, ...]
    """`T1.actress`: what the same words had shown."""
    tasks: tuple[str, ...] = ()
    """Tasks that came after and used it, directly or not."""
    statements: tuple[str, ...] = ()
    """Sentences of the delivered report that cite it."""
    reason: str


class Gate(Frozen):
    """What must be so before a report is delivered; what is not proven open is closed."""

    name: str
    is_open: bool
    seen: str
    """What it looked at, in words; where it is closed, the reason."""


class Cover(Frozen):
    """What became of the sentences that were written, and why verifying stopped."""

    checked: int = 0
    kept: int = 0
    hedged: int = 0
    """Stated with less certainty than they were written with."""
    dropped: int = 0
    checked_by: str = ""
    """The model that checked them; empty: they were checked by rules alone."""
    stop: StopCondition | None = None


class Report(Frozen):
    """The delivered report: every mark in it is one of its citations."""

    question: str
    answer: str | None
    summary: tuple[ReportStatement, ...] = ()
    findings: tuple[ReportStatement, ...] = ()
    analysis: tuple[ReportStatement, ...] = ()
    conclusions: tuple[Conclusion, ...] = ()
    contradictions: tuple[BothSides, ...] = ()
    gaps: tuple[str, ...] = ()
    figures: tuple[ReportFigure, ...] = ()
    citations: tuple[Citation, ...] = ()
    confidence: float | None = None
    """Of the answer, 0 to 1; none where nothing says how sure it is."""
    model: str = ""
    """Who wrote it; `b, with a` where a fallback was asked for some of the job's calls."""
    cover: Cover | None = None
    """None in reports of releases that did not check sentences."""
    gates: tuple[Gate, ...] = ()
    warnings: tuple[str, ...] = ()
    """Said when it is read: what became of its evidence and its sources since."""
    rechecked_at: datetime | None = None
    """Said when it is read: when its sources were last read again."""

    @property
    def sentences(self) -> tuple[ReportStatement, ...]:
        """Every statement, in the order in which it is read."""
        sides = (side for each in self.contradictions for side in (each.one, each.other))
        return (*self.summary, *self.findings, *self.analysis, *self.conclusions, *sides)
