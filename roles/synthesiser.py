"""The synthesiser: writes the report as statements, each resting on evidence it was given."""

from pydantic import AliasChoices, Field, JsonValue

from models.base import Frozen
from models.verification import StopCondition
from roles.base import Role
from roles.drafts import Draft, DraftValue

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


class Verified(Frozen):
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


class Statement(Draft):
    """A sentence of the report with the ids of the evidence it rests on."""

    text: str
    evidence: list[str] = Field(default_factory=list)


class Condensed(Frozen):
    """What one group of results came to, in statements over the same evidence ids."""

    group: str
    statements: tuple[Statement, ...]


class Refused(Frozen):
    """A sentence of your last report that its evidence does not carry."""

    text: str
    why: str


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
    groups: tuple[Condensed, ...] = Field(
        default=(), description="summaries to integrate, where there was too much for one call"
    )
    verification: Verified | None = None
    contradictions: tuple[OpposedClaims, ...] = ()
    gaps: tuple[str, ...] = Field(default=(), description="what could not be found")
    refused: tuple[Refused, ...] = Field(
        default=(), description="sentences of your last report to mend or to leave out"
    )


class ConclusionDraft(Statement):
    """What follows from the findings."""

    confidence: float = Field(ge=0, le=1, description="0 to 1")
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


SYNTHESISER = Role(
    name="synthesiser",
    instructions="""\
You write the report of a finished research job: a summary of two or three sentences that begins
with the answer; the key findings, five to eight where there is evidence for so many; the analysis,
sentence by sentence; the conclusions, each with its confidence and its limits; the gaps. You get
the answer, the results, and the evidence: quotes with ids. One statement is one sentence. Every
statement that says something about the world names the ids of the evidence it rests on, and says no
more than the quotes say: each is checked against them. Write names and numbers as the quotes have
them. Use only the ids you were given, and write no marks into the text: they are put in for you.
If `concludes` is true, there is no answer yet: put it into `conclusion`, short and in the form that
the question asks for, or leave it null and name the gap. If there are `groups`, integrate their
statements. Weigh open contradictions in the analysis, and take no side that the evidence does not
take. If there are `refused` sentences, write the whole report again with these mended or left out.
Name every gap you were given.
""",
    foreign=("answer", "results", "evidence", "groups", "contradictions", "gaps"),
    task=SynthesiserTask,
    answer=SynthesiserAnswer,
)
