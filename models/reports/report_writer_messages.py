"""Define what the writer of a report is given, and the draft that it answers with."""

import re
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field, JsonValue

from holdfast.models.answer_draft import Confidence, Draft, DraftValue
from holdfast.models.frozen_model import Frozen
from holdfast.models.verification.verification_verdicts import StopCondition

_AROUND_IDS = re.compile(r"[\[\]()\s,;]+")
_ID = re.compile(r"E\d+")
MOST_FINDINGS = 8


LEAST_FINDINGS = 5
"""Where there is evidence for so many."""


class EvidenceItem(Frozen):
    """A stored quote that a statement may cite by its id."""

    id: str = Field(description="E1, E2 and so on")
    title: str
    quote: str
    shows: str = Field(description="what was concluded from it: entity, description, value")


class ResultItem(Frozen):
    """What a part of the research came to."""

    task: str
    question: str = Field(description="the sub-question, or what the task was to find")
    agent: str = Field(default="", description="who worked on it: an agent, a tool, or reasoning")
    status: str
    completeness: float | None = Field(default=None, description="0 to 1, if it was verified")
    confidence: float | None = Field(default=None, description="0 to 1")
    values: dict[str, JsonValue] = Field(default_factory=dict)


class VerificationResult(Frozen):
    """What the verification of the results came to."""

    rounds: int
    complete: int
    total: int
    confidence: float | None = None
    stopped_by: StopCondition | None = None


class OpposedClaims(Frozen):
    """Two claims that contradict each other; the report shows both sides by itself."""

    one: str
    other: str
    settled_by: str = Field(default="", description="the task that settled it; empty: it is open")


def _bare_ids(value: object) -> object:
    """The ids without brackets; several in one text are read as several, and `e1` as E1."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return value
    bare = (name for each in value for name in _AROUND_IDS.split(each) if name)
    return [name.upper() if _ID.fullmatch(name.upper()) else name for name in bare]


EvidenceIds = Annotated[list[str], BeforeValidator(_bare_ids)]
"""The ids of the evidence that a sentence cites."""


class Statement(Draft):
    """A sentence of the report with the ids of the evidence it rests on."""

    text: str
    evidence: EvidenceIds = Field(default_factory=list)


class CondensedGroup(Frozen):
    """What one group of results came to, in statements over the same evidence ids."""

    group: str
    statements: tuple[Statement, ...]


class SynthesiserTask(Frozen):
    """What the synthesiser is given."""

    question: str
    answer: JsonValue
    concludes: bool = Field(
        default=False, description="whether you conclude the answer yourself, in `conclusion`"
    )
    confidence: float | None = Field(
        default=None, description="0 to 1: how sure the answer is, where that is known"
    )
    results: tuple[ResultItem, ...] = ()
    evidence: tuple[EvidenceItem, ...]
    groups: tuple[CondensedGroup, ...] = Field(
        default=(), description="summaries to integrate, where there was too much for one call"
    )
    verification: VerificationResult | None = None
    contradictions: tuple[OpposedClaims, ...] = ()
    gaps: tuple[str, ...] = Field(default=(), description="what could not be found")


class ConclusionDraft(Statement):
    """What follows from the findings."""

    confidence: Confidence = Field(description="0 to 1")
    limits: str = Field(description="where it ends: what was not read, or would change it")


class SynthesiserAnswer(Draft):
    """The report before marks and sources are put in."""

    summary: list[Statement] = Field(
        validation_alias=AliasChoices("summary", "answer"),
        description="the executive summary: the answer first, two or three sentences",
    )
    findings: list[Statement] = Field(
        default_factory=list, description="five to eight, fewer where there is less evidence"
    )
    analysis: list[Statement] = Field(
        default_factory=list, description="how the findings hang together, sentence by sentence"
    )
    conclusions: list[ConclusionDraft] = Field(default_factory=list)
    gaps: list[str] = Field(default_factory=list, description="what stays open")
    conclusion: DraftValue = Field(
        default=None, description="the short answer, only where `concludes` is true; else null"
    )
