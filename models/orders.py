"""What a workflow tells an activity: keys and small facts, never content."""

from pydantic import Field

from models.base import Frozen
from models.jobs import JobStatus, StopReason
from models.state import TaskState
from models.strategy import Strategy


class JobOrder(Frozen):
    """All that a workflow starts from."""

    job_id: str


class BeginOrder(Frozen):
    """Take a job over for this workflow run."""

    job_id: str
    run_id: str


class RunOrder(Frozen):
    """An order within a run; a write with an older epoch than the job's is refused."""

    job_id: str
    epoch: int


class ReadTasksOrder(RunOrder):
    """Read the tasks behind a position."""

    after: int


class ReplanOrder(RunOrder):
    """Continue the plan from a failed task."""

    task_id: str
    under_way: tuple[str, ...] = ()
    """Tasks that were started, whether or not PostgreSQL knows yet: they are not replaced."""


class TaskOrder(RunOrder):
    """Work on one attempt of a task."""

    task_id: str
    attempt: int


class FailTaskOrder(TaskOrder):
    """Record that Temporal gave the attempt up, and why."""

    message: str


class EndOrder(RunOrder):
    """Record how the job ended."""

    status: JobStatus
    reason: StopReason
    message: str = ""


class TaskPage(Frozen):
    """Some of a job's tasks, so that no payload grows with the plan."""

    tasks: tuple[TaskState, ...] = ()
    next_after: int | None = None
    """Where to read on; none when this was the last page."""


class JobBrief(Frozen):
    """What a workflow run needs to know of its job: structure and statuses."""

    epoch: int
    label: str
    strategy: Strategy
    page: TaskPage
    has_plan: bool
    replans: dict[str, int] = Field(default_factory=dict)
    tool_calls: int = 0
    has_report: bool = False
    tokens: int = 0


class JobOutcome(Frozen):
    """What the workflow gives back; the answer itself is in PostgreSQL."""

    job_id: str
    status: JobStatus
    reason: StopReason
    message: str = ""
