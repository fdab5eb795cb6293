"""Define what the gap planner is given, and its proposals."""

from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from holdfast.models.answer_draft import Draft
from holdfast.models.calls.job_setting import Collection, Today
from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.plan_drafts import DraftNode
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.verification.verification_verdicts import Completeness, Recommendation


class VerifiedSubQuestion(Frozen):
    """A sub-question with the verdict on its result."""

    id: str
    description: str
    agent: str
    criteria: str = ""
    depends_on: tuple[str, ...] = ()
    attempts: int
    status: Completeness
    completeness: float
    missing: tuple[str, ...] = ()
    tried: FromRelease[tuple[str, ...]] = Field(
        default=(), description="the calls of its attempts so far"
    )
    hint: FromRelease[str] = Field(
        default="", description="what its last attempt was to do differently"
    )
    recommendation: Recommendation


class OpenContradiction(Frozen):
    """Two claims that nobody has looked into yet."""

    one: str
    other: str
    tasks: tuple[str, ...]
    elsewhere: tuple[str, ...] = Field(
        default=(), description="agents that look in another place than these results did"
    )


class GapPlannerTask(Frozen):
    """What the gap planner is given."""

    collection: Collection = ""
    today: Today = ""
    question: str
    sub_questions: tuple[VerifiedSubQuestion, ...]
    incomplete: tuple[str, ...] = Field(description="these are all worked again")
    contradictions: tuple[OpenContradiction, ...] = ()
    agents: FromRelease[tuple[AgentBrief, ...]]
    may_add: bool = Field(description="whether sub-questions may be added for what is missing")
    used_ids: tuple[str, ...] = Field(description="ids that are taken")
    guidance: tuple[str, ...] = Field(
        default=(), description="what the person who asked has said; heed it"
    )


def _retry(value: object) -> object:
    """An id alone is read as well: VMAO's own form."""
    return {"id": value} if isinstance(value, str) else value


class DraftRetry(Draft):
    """A sub-question that is worked again."""

    id: str = Field(validation_alias=AliasChoices("id", "task_id"))
    hint: str = Field(default="", description="what to do differently this time")


class NewSubQuestion(DraftNode):
    """A sub-question that is added."""

    settles: list[str] = Field(
        default_factory=list, description="the `tasks` of the contradiction that it looks into"
    )


class GapPlannerAnswer(Draft):
    """What is done about the gaps."""

    explanation: str = Field(default="", description="one or two sentences")
    retry_sub_questions: list[Annotated[DraftRetry, BeforeValidator(_retry)]] = Field(
        default_factory=list
    )
    new_sub_questions: list[NewSubQuestion] = Field(default_factory=list)
