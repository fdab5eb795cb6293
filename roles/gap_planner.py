"""The gap planner: what is worked again and how, and which sub-questions are added (VMAO)."""

from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from models.agents import AgentBrief
from models.base import Frozen
from models.plan import Expected, Task, TaskKind
from models.verification import Completeness, Recommendation
from roles.base import Role
from roles.drafts import Draft, DraftExpected

FINDINGS = Expected(name="findings", description="what was found out, as an account")
"""What an agent yields that was not asked for certain values."""


class SubQuestionSeen(Frozen):
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
    recommendation: Recommendation


class OpenContradiction(Frozen):
    """Two claims that nobody has looked into yet."""

    one: str
    other: str
    tasks: tuple[str, ...]
    elsewhere: tuple[str, ...] = Field(
        default=(), description="agents that look in another place than these results did"
    )


class GapTask(Frozen):
    """What the gap planner is given."""

    question: str
    sub_questions: tuple[SubQuestionSeen, ...]
    incomplete: tuple[str, ...] = Field(description="these are all worked again")
    contradictions: tuple[OpenContradiction, ...] = ()
    agents: tuple[AgentBrief, ...]
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


class NewSubQuestion(Draft):
    """A sub-question that is added."""

    id: str = Field(validation_alias=AliasChoices("id", "task_id"))
    description: str = Field(validation_alias=AliasChoices("description", "question"))
    agent: str = Field(validation_alias=AliasChoices("agent", "agent_type"))
    criteria: str = Field(
        default="", validation_alias=AliasChoices("criteria", "verification_criteria")
    )
    depends_on: list[str] = Field(
        default_factory=list, validation_alias=AliasChoices("depends_on", "dependencies")
    )
    expects: list[DraftExpected] = Field(default_factory=list)
    priority: int = Field(default=5, description="1 to 10, 10 goes first")
    include_context: bool = Field(
        default=True,
        validation_alias=AliasChoices("include_context", "context_from_deps"),
        description="whether all results of the dependencies are shown to the agent",
    )
    settles: list[str] = Field(
        default_factory=list, description="the `tasks` of the contradiction that it looks into"
    )

    def to_task(self) -> Task:
        """The agent task it stands for, pending.

        Raises:
            pydantic.ValidationError: a value is out of its range.
        """
        found = tuple(Expected(**each.model_dump()) for each in self.expects)
        return Task(
            id=self.id, kind=TaskKind.AGENT, description=self.description, agent=self.agent,
            criteria=self.criteria, depends_on=tuple(self.depends_on), priority=self.priority,
            include_context=self.include_context, expects=found or (FINDINGS,),
        )  # fmt: skip


class GapAnswer(Draft):
    """What is done about the gaps."""

    explanation: str = Field(default="", description="one or two sentences")
    retry_sub_questions: list[Annotated[DraftRetry, BeforeValidator(_retry)]] = Field(
        default_factory=list
    )
    new_sub_questions: list[NewSubQuestion] = Field(default_factory=list)


GAP_PLANNER = Role(
    name="gap_planner",
    instructions="""\
You direct research that is under way. Its results have been verified; you decide how the gaps are
filled. What was found is kept: another attempt adds to it. Rules:
- `retry_sub_questions` holds ALL ids in `incomplete`, each with a `hint`: which other words,
  places or steps promise what is `missing`. Do not repeat what has failed.
- `new_sub_questions` are added only where `may_add` is true, for aspects that are missing and that
  no sub-question asks for yet; and one for each of the `contradictions`, whatever `may_add` says.
- One that is added for a contradiction looks elsewhere: its `agent` is one of `elsewhere` (any,
  where that is empty), its `settles` names the `tasks` of the contradiction, and its description
  asks for the disputed fact itself, without saying what either side claims.
- New ids, none from `used_ids`, without a dot. `description` stands alone: who reads nothing else
  knows what to find out. `agent` is one of `agents`. `criteria` says when the answer counts as
  complete. `expects` names the values to find, in snake_case, with precise descriptions; none is
  `final_answer`. `depends_on` names the sub-questions whose results it needs, and no others.
- Where nothing needs to be added, `new_sub_questions` is empty.
- Where there is `guidance`, it is from the person who asked: heed it.
""",
    foreign=("sub_questions", "contradictions"),
    task=GapTask,
    answer=GapAnswer,
)
