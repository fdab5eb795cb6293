"""What the workflow knows of a job: structure and statuses, never content."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from models.base import Frozen
from models.errors import FailureClass
from models.jobs import JobStatus, StopReason
from models.plan import TaskKind, TaskStatus
from models.strategy import Strategy


class TaskState(Frozen):
    """One task as the scheduler sees it; `label` is what a person reads in the Temporal UI."""

    id: str
    kind: TaskKind
    label: str
    depends_on: tuple[str, ...] = ()
    priority: int = 5
    status: TaskStatus = TaskStatus.PENDING
    attempt: int = 1
    root: str
    is_final: bool = False
    """Whether it yields the final answer."""
    note: str = ""
    """What came out: values found, or the failure's first line."""

    @model_serializer(mode="wrap")
    def _without_defaults(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What is usual is left out: each new run of a long job reads the whole plan again."""
        content: dict[str, Any] = handler(self)
        fields = type(self).model_fields
        return {
            name: value
            for name, value in content.items()
            if fields[name].is_required() or getattr(self, name) != fields[name].default
        }


class Halt(Frozen):
    """Why the job cannot go on, as the failing activity saw it."""

    reason: StopReason
    message: str


class Counts(Frozen):
    """What a new run must know to go on counting where the old one stopped."""

    has_plan: bool
    replans: Mapping[str, int] = Field(default_factory=dict)
    """By the root of the lineage."""
    tool_calls: int = 0
    has_report: bool = False
    tokens: int = 0


class EndJob(Frozen):
    """Record how the job ended; nothing is under way any more."""

    status: JobStatus
    reason: StopReason
    message: str = ""


class JobState(Frozen):
    """All that `decide` looks at. The same value can be rebuilt from PostgreSQL at any time."""

    strategy: Strategy
    tasks: Mapping[str, TaskState] = Field(default_factory=dict)
    has_plan: bool = False
    is_planning: bool = False
    replanning: str | None = None
    """The failed task that is being replanned now; one at a time, so continuations never clash."""
    replans: Mapping[str, int] = Field(default_factory=dict)
    """By the root of the lineage."""
    tool_calls: int = 0
    """Tool tasks started so far in the whole job."""
    halt: Halt | None = None
    is_reporting: bool = False
    has_report: bool = False
    is_paused: bool = False
    """Nothing new starts until somebody resumes the job; what runs comes to its end."""
    closing: EndJob | None = None
    """How the job is to end, once what it found is reported: nothing else is done any more."""

    @property
    def total_replans(self) -> int:
        return sum(self.replans.values())

    def count(self, *statuses: TaskStatus) -> int:
        return sum(task.status in statuses for task in self.tasks.values())

    @property
    def is_busy(self) -> bool:
        """Whether anything is under way."""
        under_way = self.is_planning or self.replanning is not None or self.is_reporting
        return under_way or self.count(TaskStatus.RUNNING) > 0


class MakePlan(Frozen):
    """Ask the planner."""


class StartTask(Frozen):
    """Start a task that is ready."""

    task_id: str


class Replan(Frozen):
    """Ask the replanner to continue from a failed task."""

    task_id: str


class WriteReport(Frozen):
    """Ask the synthesiser."""


Action = MakePlan | StartTask | Replan | WriteReport | EndJob


class TaskReceipt(Frozen):
    """What is left of a task's attempt once its content is in PostgreSQL."""

    task_id: str
    attempt: int
    status: TaskStatus
    confidence: float | None = None
    preview: str = ""
    """The entities' values in a line, or the failure's first line; at most 200 characters."""
    failure_class: FailureClass | None = None
    halt: Halt | None = None
    tokens: int = 0


class PlanReceipt(Frozen):
    """What a planning or replanning changed."""

    revision: int = 0
    added: tuple[TaskState, ...] = ()
    is_partial: bool = False
    """Whether `added` did not fit into one payload; the rest is read with `read_tasks`."""
    superseded: tuple[str, ...] = ()
    halt: Halt | None = None
    tokens: int = 0


class ReportReceipt(Frozen):
    """Whether a report was delivered."""

    statements: int = 0
    citations: int = 0
    first_lines: str = ""
    """The report's beginning for the workflow's memo, at most 300 characters."""
    halt: Halt | None = None
    tokens: int = 0
