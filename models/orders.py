"""What a workflow tells an activity: keys and small facts, never content."""

from models.base import Frozen
from models.control import Control
from models.jobs import JobStatus, StopReason
from models.state import Counts, EndJob, TaskState
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


class WorkOrder(RunOrder):
    """Work under one attempt, of the job or of a task: within it nothing is paid for twice."""

    attempt: int = 1


class ReplanOrder(WorkOrder):
    """Continue the plan from a failed task."""

    task_id: str
    under_way: tuple[str, ...] = ()
    """Tasks that were started, whether or not PostgreSQL knows yet: they are not replaced."""


class TaskOrder(WorkOrder):
    """Work on one attempt of a task."""

    task_id: str


class NodeOrder(TaskOrder):
    """Bring an agent task on."""

    round: int = 0
    """How many steps it has: what its next move rests on."""
    must_end: str = ""
    """The limit that is reached: it must conclude from what it has."""


class ReviseOrder(WorkOrder):
    """Look at what is still to do in the light of what was found."""

    considered: int
    """Results there are by now."""
    under_way: tuple[str, ...] = ()


class RoundOrder(WorkOrder):
    """Verify, or fill the gaps of, one round."""

    iteration: int


class ReportOrder(WorkOrder):
    """Write the report."""

    asks_no_more: bool = False
    """Whether the job ends with questions that nobody has answered: they are withdrawn."""


class AnswerOrder(RunOrder):
    """Record the answer to a question."""

    key: str
    question: int
    by: str
    choice: str = ""
    words: int | None = None
    """Under which number the words are in PostgreSQL."""
    by_default: bool = False


class FailTaskOrder(TaskOrder):
    """Record that Temporal gave the attempt up, and why."""

    message: str


class ControlOrder(RunOrder):
    """Record what somebody did to the job; `key` is the update's, so that it is recorded once."""

    key: str
    kind: Control
    by: str
    message: str = ""
    put_back: tuple[str, ...] = ()
    """Tasks that had begun and wait again."""
    guidance: int | None = None
    strategy: Strategy | None = None
    is_over_budget: bool = False
    """Whether the job pauses at its cap: then it is asked what to do."""


class RetryOrder(RunOrder):
    """Make tasks run again; `tasks` were named, `again` are these and what rests on them."""

    key: str
    by: str
    tasks: tuple[str, ...]
    again: tuple[str, ...]


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


class JobBrief(Counts):
    """What a workflow run needs to know of its job: structure and statuses."""

    epoch: int
    label: str
    strategy: Strategy
    page: TaskPage
    attempt: int = 1
    is_paused: bool = False
    closing: EndJob | None = None
    """How the job is to end once its findings are reported."""
    outcome: EndJob | None = None
    """How it has ended already: there is nothing to do."""


class JobOutcome(Frozen):
    """What the workflow gives back; the answer itself is in PostgreSQL."""

    job_id: str
    status: JobStatus
    reason: StopReason
    message: str = ""
