"""Define what a workflow knows of a job: task states, actions, and activity receipts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from holdfast.models.errors import FailureClass
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.event_mark import Receipt
from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.plans.research_plan import Task, TaskKind, TaskStatus
from holdfast.models.questions.user_questions import OpenQuestion
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.verification.verification_verdicts import StopCondition


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
    """True if the task yields the final answer."""
    note: str = ""
    """The result: values found, or the failure's first line."""
    parent: str = ""
    """The agent task of a step; empty for tasks of the plan itself."""
    contradicts_plan: bool = False
    """True if the result contradicts what the rest of the plan assumed."""
    seconds: float = 0.0
    """For an agent task: the total time of its steps and turns."""
    is_opening: bool = False
    """True if the task is the cited loop that the job begins with."""
    is_answered: bool = False
    """True if this loop answered the whole question, so that nothing needs to be planned."""
    is_empty: bool = False
    """True if this loop is done and proved nothing, so that there is nothing to report from it."""
    is_given_up: bool = False
    """True if the replanner expects nothing of another attempt at this failed task."""
    is_considered: bool = False
    """True if a revision after its batch has seen the result."""

    @classmethod
    def of(
        cls,
        task: Task,
        *,
        root: str,
        attempt: int = 1,
        note: str = "",
        contradicts_plan: bool = False,
        seconds: float = 0.0,
        is_answered: bool = False,
        is_empty: bool = False,
        is_given_up: bool = False,
        is_considered: bool = False,
    ) -> Self:
        """Return the state of `task`."""
        return cls(
            id=task.id,
            kind=task.kind,
            label=task.label,
            depends_on=task.depends_on,
            priority=task.priority,
            status=task.status,
            attempt=attempt,
            root=root,
            is_final=task.is_final,
            note=note,
            parent=task.parent,
            contradicts_plan=contradicts_plan,
            seconds=seconds,
            is_opening=task.is_opening,
            is_answered=is_answered,
            is_empty=is_empty,
            is_given_up=is_given_up,
            is_considered=is_considered,
        )

    def given_up(self) -> Self:
        return self.model_copy(update={"is_given_up": True})

    def considered(self) -> Self:
        return self.model_copy(update={"is_considered": True})

    def superseded(self) -> Self:
        return self.with_status(TaskStatus.SUPERSEDED)

    def with_status(self, status: TaskStatus) -> Self:
        return self.model_copy(update={"status": status})

    def with_more_seconds(self, seconds: float) -> Self:
        return self.model_copy(update={"seconds": self.seconds + seconds})

    def waiting_for(self, names: Iterable[str]) -> Self:
        """Return this state with dependencies on `names` too."""
        needs = tuple(dict.fromkeys((*self.depends_on, *names)))
        return self.model_copy(update={"depends_on": needs})

    def after(self, receipt: "TaskReceipt") -> Self:
        """Return this state with what the receipt of its attempt says."""
        is_done = receipt.status is TaskStatus.DONE
        return self.with_more_seconds(receipt.seconds).model_copy(
            update={
                "status": receipt.status,
                "note": receipt.preview,
                "contradicts_plan": receipt.contradicts_plan,
                "is_answered": receipt.is_answered,
                "is_empty": self.is_opening and is_done and receipt.confidence is None,
            }
        )

    @model_serializer(mode="wrap")
    def _without_defaults(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out default values: each new run of a long job reads the whole plan again."""
        content: dict[str, Any] = handler(self)
        fields = type(self).model_fields
        return {
            name: value
            for name, value in content.items()
            if fields[name].is_required() or getattr(self, name) != fields[name].default
        }


class Halt(Frozen):
    """Why the job cannot continue, as the failing activity reported it."""

    reason: StopReason
    message: str


class VerificationProgress(Frozen):
    """The progress of verification."""

    verified: int = 0
    filled: int = 0
    """Rounds whose gaps have been planned; at most `verified`."""
    stop: StopCondition | None = None

    def after_verification(self, round_: int, stop: StopCondition | None) -> Self:
        return self.model_copy(update={"verified": round_, "stop": stop})

    def after_filling(self, round_: int, stop: StopCondition | None) -> Self:
        return self.model_copy(update={"filled": round_, "stop": stop})


class JobCounts(Frozen):
    """The counts that a new run continues from the previous run."""

    has_plan: bool
    replans: Mapping[str, int] = Field(default_factory=dict)
    """Replans by the root of the lineage."""
    tool_calls: int = 0
    has_report: bool = False
    lacks_answer: bool = False
    """True if the report has no answer."""
    tokens: int = 0
    revisions: int = 0
    """Self-revisions so far."""
    results_considered: int = 0
    """Results that the last self-revision has seen."""
    rounds: VerificationProgress = VerificationProgress()
    questions: tuple[OpenQuestion, ...] = ()


class EndJob(Frozen):
    """Record how the job ended; no action runs any more."""

    status: JobStatus
    reason: StopReason
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class JobState:
    """The input of `decide`; the same value can be rebuilt from PostgreSQL at any time."""

    strategy: Strategy
    tasks: Mapping[str, TaskState] = field(default_factory=dict)
    has_plan: bool = False
    is_planning: bool = False
    replanning: Mapping[str, str] = field(default_factory=dict)
    """The failed task that is being replanned now, by its parent: one at a time in each agent's
    steps and in the plan itself, so continuations never clash."""
    advancing: tuple[str, ...] = ()
    """Agent tasks whose next turn is running."""
    is_revising: bool = False
    revisions: int = 0
    results_considered: int = 0
    """Results that the last self-revision has seen."""
    is_verifying: bool = False
    """True while results are verified or gaps are planned."""
    rounds: VerificationProgress = field(default_factory=VerificationProgress)
    questions: tuple[OpenQuestion, ...] = ()
    replans: Mapping[str, int] = field(default_factory=dict)
    """Replans by the root of the lineage."""
    tool_calls: int = 0
    """Tool tasks started so far in the whole job."""
    halt: Halt | None = None
    is_reporting: bool = False
    has_report: bool = False
    lacks_answer: bool = False
    """True if the report has no answer although the job should answer."""
    is_paused: bool = False
    """True: nothing new starts until a person resumes the job; running actions finish."""
    closing: EndJob | None = None
    """The ending of the job after its report; only the report is still written."""

    @property
    def total_replans(self) -> int:
        return sum(self.replans.values())

    def count(self, *statuses: TaskStatus) -> int:
        return sum(task.status in statuses for task in self.tasks.values())

    @property
    def is_busy(self) -> bool:
        """True if any action runs."""
        changes = self.is_planning or self.replanning or self.is_revising
        judges = self.advancing or self.is_verifying or self.is_reporting
        return bool(changes or judges) or self.running_call_count > 0

    @property
    def running_call_count(self) -> int:
        """Return the number of running tool and reasoning tasks."""
        return sum(
            task.status is TaskStatus.RUNNING and task.kind is not TaskKind.AGENT
            for task in self.tasks.values()
        )

    @property
    def plan_tasks(self) -> tuple[TaskState, ...]:
        """Return the tasks of the plan itself, without steps."""
        return tuple(task for task in self.tasks.values() if not task.parent)

    @property
    def opening(self) -> TaskState | None:
        """Return the cited loop that the job begins with, if the plan has one."""
        return next(
            (t for t in self.tasks.values() if t.is_opening and not t.status.is_discarded), None
        )

    def steps_of(self, task_id: str) -> tuple[TaskState, ...]:
        """Return all steps of an agent task, also of earlier attempts and superseded ones."""
        return tuple(task for task in self.tasks.values() if task.parent == task_id)

    def has_open_question(self, task_id: str = "") -> bool:
        """True if a question of this task, or of the job itself, is open."""
        return any(question.task_id == task_id for question in self.questions)


class BeginLoop(Frozen):
    """Add the cited loop that the job begins with."""


class MakePlan(Frozen):
    """Call the planner."""


class StartTask(Frozen):
    """Start a task that is ready."""

    task_id: str


class Replan(Frozen):
    """Call the replanner to continue from a failed task."""

    task_id: str


class AdvanceAgentTask(Frozen):
    """Run one turn of an agent: plan steps, take the next step, or conclude."""

    task_id: str
    must_end: str = ""
    """The limit that the agent has reached, so that it must conclude; empty: none."""


class Revise(Frozen):
    """Call the reviser about the unfinished tasks."""

    results_considered: int


class Verify(Frozen):
    """Call the verifier about the results of this round."""

    round: int


class FillGaps(Frozen):
    """Retry incomplete tasks and plan tasks for missing results."""

    round: int


class WriteReport(Frozen):
    """Call the synthesiser."""


Action = (
    BeginLoop
    | MakePlan
    | StartTask
    | AdvanceAgentTask
    | Replan
    | Revise
    | Verify
    | FillGaps
    | WriteReport
    | EndJob
)


class TaskReceipt(Receipt):
    """The receipt of a task attempt, whose content is in PostgreSQL."""

    task_id: str
    attempt: int
    status: TaskStatus
    confidence: float | None = None
    preview: str = ""
    """The entities' values in a line, or the failure's first line; at most 200 characters."""
    failure_class: FailureClass | None = None
    halt: Halt | None = None
    tokens: int = 0
    seconds: float = 0.0
    contradicts_plan: bool = False
    is_answered: bool = False
    """True if the cited loop that the job begins with answered the whole question."""


class PlanReceipt(Receipt):
    """The receipt of a plan change."""

    change_number: int = 0
    added: tuple[TaskState, ...] = ()
    is_partial: bool = False
    """True if `added` did not fit into one payload; `read_tasks` reads the rest."""
    superseded: tuple[str, ...] = ()
    changed: tuple[TaskState, ...] = ()
    """Unfinished tasks that changed: refined, reconnected, or retried."""
    given_up: tuple[str, ...] = ()
    """Failed tasks that a revision left out of the plan."""
    considered: tuple[str, ...] = ()
    """Results that a revision saw for the first time, where each batch is followed by one."""
    questions: tuple[OpenQuestion, ...] = ()
    halt: Halt | None = None
    tokens: int = 0


class AgentTaskReceipt(Receipt):
    """The receipt of an agent's turn: new steps, a question, or the result."""

    result: TaskReceipt
    """The status is `running` while the agent has not concluded."""
    added: tuple[TaskState, ...] = ()
    superseded: tuple[str, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    waits_for: tuple[str, ...] = ()
    """Tasks that answer the agent's question; the agent task now depends on them."""


class VerificationRoundReceipt(Receipt):
    """The receipt of a verification round."""

    round: int
    stop: StopCondition | None = None
    questions: tuple[OpenQuestion, ...] = ()
    halt: Halt | None = None
    tokens: int = 0


class ControlReceipt(Receipt):
    """The effect of a control on the job."""

    question: OpenQuestion | None = None
    """The question of a job that has paused because its budget is used up."""


class AnswerReceipt(Receipt):
    """The effect of an answer on the job."""

    ending: EndJob | None = None
    """The ending of the job because of the answer."""
    reports_first: bool = False
    """True if the job reports its results before it ends."""
    restarts_run: bool = False
    """True if the plan or the settings changed in PostgreSQL, so that a new run must read them."""
    refused: str = ""
    """Why the answer is refused, in at most 200 characters; the question stays open."""
    new_deadline: datetime | None = None
    """The later deadline of a question that an outage kept from people; it stays open."""


class ReportReceipt(Receipt):
    """The receipt of writing a report."""

    lacks_answer: bool = False
    """True if the report has no answer."""
    statements: int = 0
    citations: int = 0
    first_lines: str = ""
    """The beginning of the report for the workflow's memo, at most 300 characters."""
    halt: Halt | None = None
    tokens: int = 0
