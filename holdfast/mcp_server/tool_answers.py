"""Define what the tools answer.

Hosts check each answer with its schema, so no model here has a computed field.
"""

from datetime import datetime

from pydantic import Field

from holdfast.models.budget.job_expectation import JobExpectation
from holdfast.models.budget.token_prices import Money
from holdfast.models.evidence.source_checks import StoredSourceCheck
from holdfast.models.frozen_model import Frozen
from holdfast.models.views.job_views import JobLine


class StartedResearch(Frozen):
    """`research_start`: the job, which runs on its own from now on."""

    job: str
    page: str | None = Field(description="where a browser shows the job; none: no page is served")
    expected: JobExpectation
    note: str = Field(default="", description="what the user should know of the settings")
    next: str


class AskedQuestion(Frozen):
    """A question of the job to the user."""

    question: int = Field(description="its number, for research_answer")
    kind: str
    text: str
    choices: tuple[str, ...] = ()
    default: str | None = Field(default=None, description="what counts if nobody answers")
    deadline: datetime | None = Field(default=None, description="none: it waits for an answer")


class UsedAmount(Frozen):
    """The used part of a limit."""

    what: str
    used: int | float | None = Field(description="none: nobody knows, for want of a price")
    limit: int | float | None = Field(description="none: there is no limit")


class ExpectedAmounts(Frozen):
    """What the plan is expected to take if no task is tried twice; none: unknown."""

    seconds: float | None
    model_calls: int
    tool_calls: int
    tokens: int | None
    cost: Money | None


class ResearchState(Frozen):
    """What a job does, and what to call next."""

    job: str
    status: str = Field(description="queued, running, paused, done, failed or cancelled")
    asked: str = Field(description="the question that the job researches")
    answer: str | None = Field(description="the short answer, once there is one")
    message: str = ""
    page: str | None
    tasks: dict[str, int] = Field(description="tasks of the plan by status")
    doing: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    questions: tuple[AskedQuestion, ...] = ()
    estimate: ExpectedAmounts | None = Field(
        default=None, description="of the plan, while it waits for approval"
    )
    used: tuple[UsedAmount, ...] = ()
    report_parts: int = Field(description="0: there is no report yet")
    note: str = ""
    next: str


class JobList(Frozen):
    """`research_jobs`: the newest jobs of the caller."""

    jobs: tuple[JobLine, ...]
    is_whole: bool = Field(description="false: there may be more, after the last one here")


class SourcePassageView(Frozen):
    """`research_source`: the passage that a mark of the report cites."""

    job: str
    mark: int
    sentences: tuple[str, ...] = Field(description="of the report, with this mark")
    title: str
    heading: str
    address: str
    date: str = Field(description="of publication, as the tool reported it")
    quote: str = Field(description="verbatim from the passage")
    passage: str = Field(description="the stored text around the quote")
    is_intact: bool = Field(description="the stored text still has its hash, and has the quote")
    check: StoredSourceCheck | None = Field(description="what a later reading of the source found")
