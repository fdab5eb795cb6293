"""Define what the verifier is given, and its answer."""

from typing import Annotated, Literal

from pydantic import AliasChoices, BeforeValidator, Field, JsonValue, model_validator

from holdfast.models.answer_draft import Confidence, Draft
from holdfast.models.calls.job_setting import Collection, Today
from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.tasks.task_finding import QuotedPassage
from holdfast.models.verification.verification_verdicts import Completeness, Recommendation


class ResultValue(Frozen):
    """An entity of a result."""

    name: str
    value: JsonValue
    description: FromRelease[str] = Field(default="", exclude=True)
    """Not in the prompt: `expects`, or the sub-question, says it."""
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


class ResultToVerify(Frozen):
    """The result of one sub-question, which gets a verdict."""

    id: str
    sub_question: str
    criteria: str = Field(default="", description="when the result counts as complete")
    expects: tuple[ExpectedEntity, ...] = ()
    result: tuple[ResultValue, ...]
    evidence: tuple[QuotedPassage, ...] = ()
    tried: FromRelease[tuple[str, ...]] = Field(
        default=(), description="the calls that were made for it, in all attempts"
    )
    depends_on: tuple[str, ...] = Field(
        default=(), description="the results that this one was worked from"
    )
    settles: DisputedClaims | None = Field(
        default=None, description="the contradiction for whose sake this was looked up elsewhere"
    )

    @property
    def as_other(self) -> OtherResult:
        """The result as one to compare others with."""
        return OtherResult(id=self.id, sub_question=self.sub_question, values=self.result)


class VerifierTask(Frozen):
    """What the verifier is given: the results of a round that have no verdict yet."""

    collection: Collection = ""
    today: Today = ""
    question: str = Field(description="the user's question; the sub-questions serve it")
    guidance: tuple[str, ...] = Field(
        default=(), description="what the person who asked has said since"
    )
    results: tuple[ResultToVerify, ...]
    others: tuple[OtherResult, ...] = Field(
        default=(), description="further results, which have their verdict"
    )

    @model_validator(mode="before")
    @classmethod
    def _from_one_result(cls, value: object) -> object:
        """Earlier releases asked for each result by itself."""
        if not isinstance(value, dict) or "sub_question" not in value:
            return value
        names = set(ResultToVerify.model_fields)
        context = value.get("context") or ()
        own = {name: value[name] for name in value if name in names}
        return {
            **{name: value[name] for name in value if name in ("today", "question")},
            "results": [own | {"depends_on": [each["id"] for each in context]}],
            "others": [*context, *(value.get("others") or ())],
        }


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


class VerdictDraft(Draft):
    """The verdict on one result."""

    id: str = Field(default="", description="of the result")
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
    confidence: Confidence = Field(description="0 to 1: how far the result can be relied on")
    recommendation: Recommendation = Field(
        description="accept; retry: another attempt may do better; escalate: a person must judge"
    )
    sides_with: Literal["one", "other", "neither"] = Field(
        default="neither", description="where there is `settles`: which claim this result supports"
    )


class VerifierAnswer(Draft):
    """A verdict on each result."""

    verdicts: list[VerdictDraft]

    @model_validator(mode="before")
    @classmethod
    def _from_one_verdict(cls, value: object) -> object:
        """A verdict alone is read as well, as VMAO writes it for one result."""
        if isinstance(value, dict) and "verdicts" not in value and "confidence" in value:
            return {"verdicts": [value]}
        return value
