"""How a job looks from outside: the shapes behind `--json`, whose names stay."""

from datetime import datetime

from pydantic import Field, JsonValue

from models.base import Frozen
from models.estimates import Comparison
from models.prices import Money
from models.recoveries import Recovery
from models.spending import Breakdown, Spend, Tokens


class TaskView(Frozen):
    """One task of a job."""

    id: str
    kind: str
    description: str
    tool: str
    agent: str = ""
    parent: str = ""
    """The agent task whose step it is."""
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
    """None: a price is unknown."""


class CallCounts(Frozen):
    """Calls made."""

    model: int = 0
    tool: int = 0


class TemporalView(Frozen):
    """Where the job is in Temporal."""

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
    tasks: tuple[TaskView, ...]
    replans: int
    revision: int
    depth: int
    breadth: float
    tokens: Tokens
    cost: Money | None
    """In `currency`; none where a price is unknown."""
    currency: str
    spent: Breakdown
    """The same by phase, role, task and model."""
    estimate: Comparison | None
    """What it was to take, told when it was planned, beside what it took."""
    calls: CallCounts
    repeated_calls: int
    """Tool calls that were answered from an earlier identical one."""
    reused_calls: int
    """Times a recorded answer was used after a restart instead of calling again."""
    recoveries: tuple[Recovery, ...]
    """A receipt for each time that work was lost and went on."""
    config_hash: str
    created_at: datetime
    seconds: float | None
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
    created_at: datetime
    seconds: float | None


class EventView(Frozen):
    """One entry of a job's log."""

    seq: int
    at: datetime
    kind: str
    task: str
    facts: dict[str, JsonValue]


class Share(Frozen):
    """Calls of one tool."""

    name: str
    calls: int


class Stats(Frozen):
    """`holdfast stats`: what the KPI-Chain paper reports of its runs (KPI-15)."""

    jobs: int
    by_status: dict[str, int]
    calls: CallCounts
    tokens: Tokens
    cost: Money | None
    """In `currency`; none where a price is unknown."""
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
    by_tool: tuple[Share, ...]
    success_after_replans: dict[str, int] = Field(
        description="answered jobs by the number of replans they took: 0, 1, 2, 3, more"
    )
    failures_by_component: dict[str, int]
    repeated_calls: int
