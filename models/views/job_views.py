"""Define the output of `holdfast show`, `list`, `log` and `stats` with `--json`."""

from datetime import datetime

from pydantic import Field, JsonValue

from holdfast.models.budget.cost_estimates import EstimateComparison
from holdfast.models.budget.job_stages import Stage
from holdfast.models.budget.spend_breakdown import Spend, SpendBreakdown, Tokens
from holdfast.models.budget.token_prices import Money
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_recovery import Recovery


class TaskView(Frozen):
    """One task of a job."""

    id: str
    kind: str
    description: str
    tool: str
    agent: str = ""
    parent: str = ""
    """The agent task of a step."""
    status: str
    depends_on: tuple[str, ...]
    priority: int
    attempt: int
    root: str
    confidence: float | None
    entities: dict[str, JsonValue]
    failure: dict[str, JsonValue] | None
    seconds: float | None
    tokens: int
    cost: Money | None
    """None if a price is unknown."""


class CallCounts(Frozen):
    """Calls made."""

    model: int = 0
    tool: int = 0


class TemporalView(Frozen):
    """The job's workflow in Temporal."""

    workflow_id: str
    run_id: str | None
    url: str | None


class JobView(Frozen):
    """`holdfast show JOB --json`."""

    job_id: str
    question: str
    preset: str
    model: str
    status: str
    stop_reason: str | None
    message: str
    answer: str | None
    confidence: float | None = None
    """The confidence of the answer, 0 to 1; None without a report, or if it is unknown."""
    open_questions: int = 0
    """Questions that wait for a person."""
    tasks: tuple[TaskView, ...]
    replans: int
    plan_changes: int
    depth: int
    breadth: float
    tokens: Tokens
    cost: Money | None
    """The cost in `currency`; None if a price is unknown."""
    currency: str
    spent: SpendBreakdown
    """The spend by phase, role, task and model."""
    stages: tuple[Stage, ...] = ()
    """The stages that have begun, with what they spent and why they were needed."""
    estimate: EstimateComparison | None
    """The estimate made with the plan, and the amounts used."""
    calls: CallCounts
    repeated_calls: int
    """Calls that an earlier identical call answered, of this job or of the forked job."""
    reused_calls: int
    """The number of recorded answers that replaced a new call after a restart."""
    recoveries: tuple[Recovery, ...]
    """A crash receipt for each recovery."""
    config_hash: str
    created_at: datetime
    seconds: float | None
    """From submission to the end, or until now; the time in which it had ended does not count."""
    follows: str | None = None
    """The job that the question follows."""
    forked_from: str | None = None
    """The job that this job was forked from; it may have been removed."""
    forks: tuple[str, ...] = ()
    """The jobs that were forked from this job, oldest first."""
    temporal: TemporalView


class JobLine(Frozen):
    """One row of `holdfast list`."""

    job_id: str
    question: str
    preset: str
    model: str
    status: str
    stop_reason: str | None
    answer: str | None
    confidence: float | None = None
    """The confidence of the answer, 0 to 1; None without a report, or if it is unknown."""
    open_questions: int = 0
    """Questions that wait for a person."""
    created_at: datetime
    seconds: float | None
    """From submission to the end, or until now; the time in which it had ended does not count."""


class EventView(Frozen):
    """One entry of a job's log."""

    seq: int
    at: datetime
    kind: str
    task: str
    facts: dict[str, JsonValue]


class ToolCallCount(Frozen):
    """Calls of one tool."""

    name: str
    calls: int


class Stats(Frozen):
    """`holdfast stats`: the figures that the KPI-Chain paper reports (KPI-15)."""

    jobs: int
    by_status: dict[str, int]
    calls: CallCounts
    tokens: Tokens
    cost: Money | None
    """The cost in `currency`; None if a price is unknown."""
    currency: str
    tokens_per_call: float
    tokens_per_job: float
    calls_per_job: float
    by_phase: tuple[Spend, ...]
    by_role: tuple[Spend, ...]
    by_task: tuple[Spend, ...] = Field(description="of one job alone")
    by_model: tuple[Spend, ...]
    deviation_output_tokens: dict[str, int] = Field(
        description="output tokens spent on handling deviations, by role (TDP-08)"
    )
    by_tool: tuple[ToolCallCount, ...]
    success_after_replans: dict[str, int] = Field(
        description="answered jobs by the number of replans they took: 0, 1, 2, 3, more"
    )
    failures_by_component: dict[str, int]
    repeated_calls: int
