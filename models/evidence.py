"""Evidence: a quote, letter by letter, in a stored source; and what rests on it."""

from datetime import datetime

from pydantic import JsonValue

from models.base import Frozen
from models.tools import ReadPassage


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
        """Whether the quote stands verbatim in the stored source."""
        return bool(self.quote) and self.source_text[self.start : self.end] == self.quote


class Citation(Frozen):
    """A mark of the report: where its passage stands, in characters of the document."""

    mark: int
    evidence_id: int
    source_id: int
    address: str
    title: str
    heading: str
    start: int
    end: int
    quote: str
    sha256: str


class ReportStatement(Frozen):
    """A sentence of the report with its marks."""

    text: str
    marks: tuple[int, ...] = ()


class Report(Frozen):
    """The delivered report: every mark in it is one of its citations."""

    question: str
    answer: str | None
    summary: tuple[ReportStatement, ...] = ()
    findings: tuple[ReportStatement, ...] = ()
    gaps: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    model: str = ""
    """Who wrote it; `b, with a` where a fallback was asked for some of the job's calls."""
