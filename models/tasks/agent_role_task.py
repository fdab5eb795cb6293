"""Define the task that all roles of one agent are given."""

from pydantic import Field, JsonValue

from holdfast.models.calls.job_setting import Collection, Today
from holdfast.models.calls.prompt_tools import CallableTools, NamedTools
from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.tasks.named_value import NamedValue


class TraceQuote(Frozen):
    """A quote that shows a value of a step."""

    name: str = Field(description="the names of the values that it shows")
    quote: str
    source: str = Field(default="", description="the document's address, or its title")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values, apart."""
        return tuple(self.name.split(", "))


class TraceStep(Frozen):
    """A step that was taken: what was done, and what was observed."""

    id: str
    action: FromRelease[str] = Field(description="the tool with its arguments, or the deduction")
    status: str
    found: dict[str, JsonValue] = Field(default_factory=dict)
    confidence: FromRelease[float | None] = None
    quotes: FromRelease[tuple[TraceQuote, ...]] = ()
    summary: FromRelease[str] = Field(default="", description="what was read, if it is unsure")
    failure: str = ""


class AnsweredQuestion(Frozen):
    """A question that was asked before, with its answer."""

    question: str
    answer: str
    by: str = Field(description="memory, evidence, task, user or default")


class AgentRoleTask(Frozen):
    """All that an agent's roles are given: nothing of what does not concern this sub-question."""

    tools: CallableTools = ()
    collection: Collection = ""
    today: Today = ""
    instructions: FromRelease[str] = Field(default="", description="how this kind of agent works")
    node: str = Field(description="the sub-question's id")
    specification: str
    criteria: str = ""
    expects: tuple[ExpectedEntity, ...]
    given: tuple[NamedValue, ...] = Field(
        default=(), description="what the sub-questions it depends on found"
    )
    objectives: tuple[str, ...] = ()
    trace: tuple[TraceStep, ...] = ()
    earlier: FromRelease[tuple[TraceStep, ...]] = Field(
        default=(), description="steps that were replaced, and those of earlier attempts"
    )
    left_out: FromRelease[str] = Field(
        default="", description="how many entries of which field have no room in the prompt"
    )
    answers: tuple[AnsweredQuestion, ...] = Field(
        default=(), description="what the job's own work says to the questions of this agent"
    )
    user_answers: tuple[AnsweredQuestion, ...] = Field(
        default=(), description="what the person who asked says to them"
    )
    guidance: str = Field(default="", description="what the supervisor says to do next")
    hints: tuple[str, ...] = Field(
        default=(), description="what an earlier attempt at this sub-question left open"
    )
    deviation: str = Field(
        default="", description="what was observed that the objectives did not expect"
    )
    must_end: str = Field(
        default="", description="the limit that is reached: no more calls, conclude now"
    )
    used_ids: tuple[str, ...] = ()


class SupervisorTask(AgentRoleTask):
    """The same for roles that call no tool: they see the names of the tools."""

    tools: NamedTools = ()
    used_ids: FromRelease[tuple[str, ...]] = Field(default=(), exclude=True)
    """Not in the prompt: no step is named."""

    @classmethod
    def of(cls, task: AgentRoleTask) -> "SupervisorTask":
        """The agent's task as those see it that judge, or set objectives."""
        return cls(**dict(task))
