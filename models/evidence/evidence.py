"""Define evidence (verbatim quotes in stored sources), citations, and the cited report."""

import hashlib
from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import Field, JsonValue

from holdfast.models.budget.job_stages import Stage, StageName
from holdfast.models.calls.tool_figures import ReportFigure
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.evidence.answer_routes import AnswerRoute
from holdfast.models.frozen_model import Frozen
from holdfast.models.verification.verification_verdicts import StopCondition

TOOL_ADDRESS_PREFIX = "tool:"
"""The prefix of addresses that we give to answers without one; no tool can read these."""
_CALCULATIONS = f"{TOOL_ADDRESS_PREFIX}python."


class EvidenceStatus(StrEnum):
    """The status of a piece of evidence; only active evidence supports anything."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    """A later attempt at the task replaced the evidence."""
    RETRACTED = "retracted"
    """A person retracted the evidence."""


class LocatedQuote(Frozen):
    """A quote found in a passage: `passage.text[start:end]` is the quote."""

    entity: str
    passage: SourcePassage
    start: int
    end: int

    @property
    def quote(self) -> str:
        return self.passage.text[self.start : self.end]


class StoredEvidence(Frozen):
    """Evidence as stored in PostgreSQL, with its source and entity."""

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
    """The offset of the source's text in the document at `address`."""
    start: int
    end: int
    quote: str
    sha256: str
    fetched_at: datetime

    @property
    def resolves(self) -> bool:
        """True if the source's stored text contains the quote verbatim at its place."""
        is_there = bool(self.quote) and self.source_text[self.start : self.end] == self.quote
        # PostgreSQL returns no lone surrogates, so every stored text can be encoded.
        return is_there and hashlib.sha256(self.source_text.encode()).hexdigest() == self.sha256


class Citation(Frozen):
    """A citation mark: the place of its passage, in characters of the document."""

    mark: int
    evidence_id: int
    source_id: int
    address: str
    title: str
    heading: str
    date: str = ""
    """The publication date as the tool reported it; empty if unknown."""
    tool: str = ""
    """The tool that returned the passage; empty in reports of earlier releases."""
    via: str = ""
    """The user's own server that reported address, title and date; empty: a built-in server."""
    start: int
    end: int
    quote: str
    sha256: str
    fetched_at: datetime | None = None
    code: str = ""
    """Filled in when the report is read: the code of a calculation; a long one is cut."""
    inputs: str = ""
    """Filled in when the report is read: the values that the code ran on; long ones are cut."""

    @property
    def is_document(self) -> bool:
        """True if the passage is of a document; else it is the whole answer of a tool."""
        return not self.address.startswith(TOOL_ADDRESS_PREFIX)

    @property
    def is_calculation(self) -> bool:
        """True if the passage is the result of code that the built-in server `python` ran."""
        return self.address.startswith(_CALCULATIONS) and not self.via


class EvidenceLevel(StrEnum):
    """The evidence of a sentence, from least to most; each word is shown as it is."""

    NONE = "none"
    SINGLE_SOURCE = "single source"
    CORROBORATED = "corroborated"
    """Passages of two or more documents that are no copies of each other, and say the same."""
    PRIMARY = "primary"
    """A document that the setting `primary_sources` names."""


class ReportStatement(Frozen):
    """A sentence of the report with its marks."""

    text: str
    marks: tuple[int, ...] = ()
    strength: str = ""
    """How strongly its quotes show it: stated, implied or weak; empty if nobody judged that."""
    level: EvidenceLevel | None = None
    """None in reports of earlier releases."""


class ReportConclusion(ReportStatement):
    """A conclusion from the findings, with its confidence and limits."""

    confidence: float | None = Field(default=None, ge=0, le=1)
    """Never above the confidence of the answer; None if the report has no answer."""
    limits: str = ""


class ReportContradiction(Frozen):
    """Two claims that cannot both be true, each with its evidence."""

    one: ReportStatement
    other: ReportStatement
    settled_by: str = ""
    """The tie-breaker that settled the contradiction; empty: it is open."""


class Retraction(Frozen):
    """A retracted piece of evidence, and everything that depends on it."""

    evidence_id: int
    task: str
    """The task of the plan that found the evidence."""
    entities: tuple[str, ...]
    """Entities with this evidence, such as `T1.actress`."""
    tasks: tuple[str, ...] = ()
    """The downstream tasks."""
    statements: tuple[str, ...] = ()
    """The sentences of the delivered report that cite the evidence."""
    reason: str


class DeliveryCheck(Frozen):
    """A condition for the delivery of a report; a check fails unless the condition is proven."""

    name: str
    has_passed: bool
    detail: str
    """What was checked, in words; the reason if the check failed."""


class CheckSummary(Frozen):
    """How many sentences were kept, hedged or dropped, and why verification stopped.

    `checked` is the sum of the three; `judged` of them were judged by a model, the others by rules.
    """

    checked: int = 0
    judged: int = 0
    refused: int = 0
    """Sentences of the first draft that were sent back to the writer."""
    kept: int = 0
    hedged: int = 0
    """Sentences that were changed to state less certainty."""
    dropped: int = 0
    checked_by: str = ""
    """The model that checked the sentences; empty: only rules did."""
    stop: StopCondition | None = None


class NearestPassage(Frozen):
    """A passage that is quoted, although it proves nothing."""

    quote: str
    title: str
    address: str


class PossibleValue(Frozen):
    """A value that was found, but with less confidence than a value needs."""

    about: str
    """What the value is of, in words."""
    value: str
    confidence: float
    needed: float
    """The confidence threshold of the job."""
    passage: NearestPassage | None = None
    """What the value was read from; None if nothing was quoted, and in earlier releases."""


class Report(Frozen):
    """The delivered report; every mark in it is one of its citations."""

    question: str
    answer: str | None
    summary: tuple[ReportStatement, ...] = ()
    findings: tuple[ReportStatement, ...] = ()
    analysis: tuple[ReportStatement, ...] = ()
    conclusions: tuple[ReportConclusion, ...] = ()
    contradictions: tuple[ReportContradiction, ...] = ()
    gaps: tuple[str, ...] = ()
    possible: tuple[PossibleValue, ...] = ()
    searches: tuple[str, ...] = ()
    """What was searched, in a report without an answer."""
    nearest: tuple[NearestPassage, ...] = ()
    """In a report of a job that found nothing."""
    advice: tuple[str, ...] = ()
    """What would help to find an answer, in a report without one."""
    figures: tuple[ReportFigure, ...] = ()
    citations: tuple[Citation, ...] = ()
    confidence: float | None = None
    """The confidence of the answer, 0 to 1; None if there is no answer, or if it is unknown."""
    route: AnswerRoute | None = None
    """How the answer was reached, which its confidence depends on; None in earlier releases."""
    model: str = ""
    """The model that wrote the report; `b, with a` if a fallback answered some calls."""
    check_summary: CheckSummary | None = None
    """None in reports of releases without sentence checks."""
    delivery_checks: tuple[DeliveryCheck, ...] = ()
    documents: int | None = None
    """How many documents the collection had; None without one, and in earlier releases.

    In the log, not in the stored report: the former release refuses a report with unknown fields.
    """
    warnings: tuple[str, ...] = ()
    """Filled in when the report is read: later changes of its evidence and sources."""
    rechecked_at: datetime | None = None
    """Filled in when the report is read: when its sources were last read again."""
    job_id: str = ""
    """Filled in when the report is read."""
    delivered_at: datetime | None = None
    """Filled in when the report is read."""
    stages: tuple[Stage, ...] = ()
    """Filled in when the report is read: what the job's stages spent, and why they were needed."""
    currency: str = ""
    """The currency of the stages' costs; filled in with them."""

    def with_stages(self, stages: tuple[Stage, ...], currency: str) -> Self:
        """Return the report with what the job spent; comparisons come after it, and are no part."""
        own = tuple(each for each in stages if each.name is not StageName.COMPARE)
        return self.model_copy(update={"stages": own, "currency": currency})

    @property
    def sentences(self) -> tuple[ReportStatement, ...]:
        """Return every statement in reading order."""
        sides = (side for each in self.contradictions for side in (each.one, each.other))
        return (*self.summary, *self.findings, *self.analysis, *self.conclusions, *sides)
