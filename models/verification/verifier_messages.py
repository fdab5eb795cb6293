"""Define what the verifier is given, and its answer."""

from typing import Annotated, Literal

from pydantic import AliasChoices, BeforeValidator, Field, JsonValue

from holdfast.models.answer_draft import Confidence, Draft
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.tasks.task_finding import QuotedPassage
from holdfast.models.verification.verification_verdicts import Completeness, Recommendation


class ResultValue(Frozen):
    """An entity of a result."""

    name: str
    value: JsonValue
    description: str = ""
    confidence: float | None = None


class OtherResult(Frozen):
    """The result of another sub-question, to compare with."""

    id: str
    sub_question: str
    values: tuple[ResultValue, ...]


class DisputedClaims(Frozen):
    """Two claims of which at most one is true."""

    one: str
    other: str


class VerifierTask(Frozen):
    """What the verifier is given."""

    question: str = Field(description="the user's question; the sub-question serves it")
    id: str
    sub_question: str
    criteria: str = Field(default="", description="when the result counts as complete")
    expects: tuple[ExpectedEntity, ...] = ()
    result: tuple[ResultValue, ...]
    evidence: tuple[QuotedPassage, ...] = ()
    context: tuple[OtherResult, ...] = Field(
        default=(), description="results that this one was worked from"
    )
    others: tuple[OtherResult, ...] = Field(
        default=(), description="further results that may contradict this one"
    )
    settles: DisputedClaims | None = Field(
        default=None, description="the contradiction for whose sake this was looked up elsewhere"
    )


def _claim(value: object) -> object:
    """A contradiction as plain text is read as well: VMAO's own form."""
    return {"claim": value} if isinstance(value, str) else value


class Claim(Draft):
    """Something in the result that cannot be true together with something else."""

    claim: str = Field(description="what the result says")
    against: str = Field(default="", description="what contradicts it")
    other: str = Field(
        default="", description="the id of the result that says so; empty: the result itself"
    )


class VerifierAnswer(Draft):
    """The verdict on one result."""

    missing: list[str] = Field(
        default_factory=list,
        description="each thing that is asked for and not there",
        validation_alias=AliasChoices("missing", "missing_aspects"),
    )
    contradictions: list[Annotated[Claim, BeforeValidator(_claim)]] = Field(default_factory=list)
    completeness: Confidence = Field(
        description="0 to 1",
        validation_alias=AliasChoices("completeness", "completeness_score"),
    )
    status: Completeness = Field(validation_alias=AliasChoices("status", "verification_status"))
    confidence: Confidence = Field(description="0 to 1: how sure this verdict is")
    recommendation: Recommendation = Field(
        description="accept; retry: another attempt may do better; escalate: a person must judge"
    )
    sides_with: Literal["one", "other", "neither"] = Field(
        default="neither", description="where there is `settles`: which claim this result supports"
    )
