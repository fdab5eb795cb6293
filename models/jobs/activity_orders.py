"""Define the orders that a workflow gives to activities: keys and small facts, never content."""

from datetime import datetime

from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.event_mark import EventMark, Receipt
from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.jobs.job_state import EndJob, JobCounts, TaskState
from holdfast.models.jobs.work_limit import WorkLimit
from holdfast.models.questions.control_requests import ControlKind
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.wire import call_places, stored_keys
from holdfast.models.wire.call_places import CallPlaces


class JobOrder(Frozen):
    """The input of a workflow."""

    job_id: str
    after_epoch: int = 0
    """The epoch of the run that this run continues; PostgreSQL may know only an earlier one."""


class BeginOrder(Frozen):
    """Take over a job for this workflow run."""

    job_id: str
    run_id: str
    after_epoch: int = 0


class RunOrder(Frozen):
    """An order of a workflow run; a write with an older epoch than the job's is refused."""

    job_id: str
    epoch: int
    seen: EventMark | None = None
    """The newest entry of the job's log that the run has seen; PostgreSQL must have this entry."""


class ReadTasksOrder(RunOrder):
    """Read the tasks after a position."""

    after: int


class AttemptOrder(RunOrder):
    """An order within one attempt at a job or task; within it no call is paid for twice."""

    attempt: int = 1
    limit: WorkLimit | None = None
    """How long workers may work on it; None: as long as it takes, for what only records."""

    @property
    def places(self) -> CallPlaces:
        """Where its calls are in the ledger; the plain order is the planner's."""
        return call_places.planning_places()


class ReplanOrder(AttemptOrder):
    """Continue the plan from a failed task."""

    task_id: str
    under_way: tuple[str, ...] = ()
    """Started tasks, also if PostgreSQL does not show it yet; they are not replaced."""

    @property
    def places(self) -> CallPlaces:
        return call_places.replanning_places(self.task_id)


class TaskOrder(AttemptOrder):
    """Run one attempt of a task."""

    task_id: str

    @property
    def places(self) -> CallPlaces:
        return CallPlaces(exact=(self.task_id,))


class AgentTaskOrder(TaskOrder):
    """Run one turn of an agent task."""

    turn: int = 0
    """How many steps it has: the number of its next turn."""
    must_end: str = ""
    """The limit that the agent has reached, so that it must conclude; empty: none."""

    @property
    def receipt_key(self) -> str:
        """The key of the turn's receipt."""
        return stored_keys.agent_turn_receipt(self.task_id, self.attempt, self.turn)


class ReviseOrder(AttemptOrder):
    """Revise the unfinished tasks in the light of new results."""

    results_considered: int
    """The number of results so far."""
    under_way: tuple[str, ...] = ()

    @property
    def places(self) -> CallPlaces:
        key = stored_keys.revision_receipt(self.results_considered, self.attempt)
        return CallPlaces(exact=(key,))


class VerificationRoundOrder(AttemptOrder):
    """Verify the results of one round, or fill their gaps."""

    round: int

    @property
    def places(self) -> CallPlaces:
        return call_places.verification_places(self.round)


class ReportOrder(AttemptOrder):
    """Write the report."""

    withdraws_questions: bool = False
    """True if open questions are withdrawn because the job ends."""

    @property
    def places(self) -> CallPlaces:
        return CallPlaces(exact=(call_places.REPORT_LABEL,))


class AnswerOrder(RunOrder):
    """Record the answer to a question."""

    key: str
    question: int
    by: str
    choice: str = ""
    words: int | None = None
    """The number of the free text in PostgreSQL."""
    by_default: bool = False
    deadline: datetime | None = None
    """The deadline that has passed, of an answer by default."""


class FailTaskOrder(TaskOrder):
    """Record that the attempt failed for good, and why."""

    message: str
    worked_s: float = 0.0
    """How long workers worked on the attempt."""


class ControlOrder(RunOrder):
    """Record a control of a person; `key` identifies the update, so it is recorded once."""

    key: str
    kind: ControlKind
    by: str
    message: str = ""
    reset_tasks: tuple[str, ...] = ()
    """Tasks that had begun and are pending again."""
    guidance: int | None = None
    strategy: Strategy | None = None
    is_over_budget: bool = False
    """True if the job pauses at its budget and asks what to do."""


class RetryOrder(RunOrder):
    """Make tasks run again: `tasks` were named, `rerun` adds their downstream tasks."""

    key: str
    by: str
    tasks: tuple[str, ...]
    rerun: tuple[str, ...]


class EndOrder(RunOrder):
    """Record how the job ended."""

    status: JobStatus
    reason: StopReason
    message: str = ""


class CancelWorkflowOrder(Frozen):
    """Request the cancellation of the workflow run of a job that was cancelled."""

    job_id: str


class TaskPage(Frozen):
    """One page of a job's tasks, so that no payload grows with the plan."""

    tasks: tuple[TaskState, ...] = ()
    next_after: int | None = None
    """The position of the next page; None for the last page."""


class JobBrief(Receipt, JobCounts):
    """The state of a job for a workflow run: structure and statuses."""

    epoch: int
    label: str
    strategy: Strategy
    page: TaskPage
    attempt: int = 1
    is_paused: bool = False
    closing: EndJob | None = None
    """The ending of the job after its report."""
    outcome: EndJob | None = None
    """The ending of a job that has ended already."""


class JobOutcome(Receipt):
    """The result of a workflow; the answer itself is in PostgreSQL."""

    job_id: str
    status: JobStatus
    reason: StopReason
    message: str = ""
