"""Reviser role: refine, add or remove agent tasks that have not begun."""

from pydantic import AliasChoices, Field

from holdfast.models.answer_draft import Draft
from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.plan_drafts import DraftNode
from holdfast.models.plans.shown_plan import ShownPlan
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role


class FailedAgentTask(Frozen):
    """A sub-question that failed."""

    id: str
    why: str


class ReviserTask(Frozen):
    """What the reviser is given."""

    question: str
    plan: ShownPlan = Field(
        description="every sub-question with its status and, when finished, what it found"
    )
    changeable: tuple[str, ...] = Field(description="sub-questions that have not begun")
    contradictions: tuple[str, ...] = Field(
        default=(), description="what was found that the plan had not assumed"
    )
    failed: tuple[FailedAgentTask, ...] = Field(
        default=(), description="sub-questions that failed, and what exactly went wrong"
    )
    agents: FromRelease[tuple[AgentBrief, ...]] = ()
    used_ids: tuple[str, ...] = ()
    guidance: tuple[str, ...] = ()


class Refined(Draft):
    """A sub-question that has not begun, in better words."""

    id: str
    description: str = Field(validation_alias=AliasChoices("description", "specification"))
    criteria: str | None = None
    depends_on: list[str] | None = Field(
        default=None, description="only where it must wait for others than before"
    )
    first_queries: list[str] | None = Field(
        default=None,
        validation_alias=AliasChoices("first_queries", "queries"),
        description="searches to begin with, where the planned ones no longer fit",
    )


class ReviserAnswer(Draft):
    """What is to change; three empty lists where the plan holds."""

    explanation: str = ""
    refine: list[Refined] = Field(default_factory=list)
    add: list[DraftNode] = Field(default_factory=list)
    remove: list[str] = Field(default_factory=list)


REVISER = Role(
    name=RoleName.REVISER.value,
    instructions="""\
You look after the `plan` of a `question`, a graph of sub-questions that `agents` work. Some have
finished since you last looked. Does what was found break an assumption of what is still to do
(`contradictions` are what agents noticed)? Can what remains still answer the question? Then change
as little as is needed:
- `refine`: write what was learnt into the description of a sub-question that has not begun, so
  that it is more exact and still stands alone: names and figures instead of "the company found
  before". Planned `first_queries` stay unless you give others.
- `add`: sub-questions that turned out to be needed, with ids that are not in `used_ids`.
- `remove`: sub-questions that are pointless now. What depended on one must be refined to depend
  on others. Only those in `changeable` may be refined, and only they and the failed ones removed.
  The graph must stay free of cycles. If the plan holds, answer with three empty lists.
- `failed` are sub-questions that failed, and why. If the question needs what one was to find, `add`
  what finds it in another way (other words, another agent, smaller questions), `remove` the failed
  one, and refine with `depends_on`, or remove, what depended on it. Else it stays, and nothing may
  depend on it. If the one that yields `final_answer` failed, the last of `add` yields it.
- Follow `guidance`: it is from the person who asked.
""",
    foreign_fields=("plan", "contradictions", "failed"),
    task=ReviserTask,
    answer=ReviserAnswer,
)
