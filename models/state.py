"""What the workflow knows of a job: structure and statuses, never content."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from models.base import Frozen
from models.errors import FailureClass
from models.jobs import JobStatus, StopReason
from models.plan import TaskKind, TaskStatus
from models.questions import OpenQuestion
from models.strategy import Strategy
from models.verification import StopCondition


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
    parent: str = ""
    """The agent task whose step this is; empty for tasks of the plan itself."""
    contradicts_plan: bool = False
    """Whether its result contradicts what the rest of the plan assumed."""
    seconds: float = 0.0
    """Of an agent task: how long its steps and its own model calls took, all together."""

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


class Rounds(Frozen):
    """How far verification has come."""

    verified: int = 0
    filled: int = 0
    """Rounds whose gaps have been planned; at most `verified`."""
    stop: StopCondition | None = None


class Counts(Frozen):
    """What a new run must know to go on counting where the old one stopped."""

    has_plan: bool
    replans: Mapping[str, int] = Field(default_factory=dict)
    """By the root of the lineage."""
    tool_calls: int = 0
    has_report: bool = False
    lacks_answer: bool = False
    """Whether its report comes to no answer."""
    tokens: int = 0
    revisions: int = 0
    """Self-revisions so far."""
    considered: int = 0
    """Results that the last self-revision has seen."""
    rounds: Rounds = Rounds()
    questions: tuple[OpenQuestion, ...] = ()


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
    replanning: Mapping[str, str] = Field(default_factory=dict)
    """The failed task that is being replanned now, by its parent: one at a time in each agent's
    steps and in the plan itself, so continuations never clash."""
    advancing: tuple[str, ...] = ()
    """Agent tasks of which it is being decided how they go on."""
    is_revising: bool = False
    revisions: int = 0
    considered: int = 0
    """Results that the last self-revision has seen."""
    is_verifying: bool = False
    """Whether results are being verified, or the gaps they leave planned."""
    rounds: Rounds = Rounds()
    questions: tuple[OpenQuestion, ...] = ()
    replans: Mapping[str, int] = Field(default_factory=dict)
    """By the root of the lineage."""
    tool_calls: int = 0
    """Tool tasks started so far in the whole job."""
    halt: Halt | None = None
    is_reporting: bool = False
    has_report: bool = False
    lacks_answer: bool = False
    """Whether the report comes to no answer, where it was to conclude one."""
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
        changes = self.is_planning or self.replanning or self.is_revising
        judges = self.advancing or self.is_verifying or self.is_reporting
        return bool(changes or judges) or self.running_leaves > 0

    @property
    def running_leaves(self) -> int:
        """Calls and deductions under way; an agent task only waits for its steps."""
        return sum(
            task.status is TaskStatus.RUNNING and task.kind is not TaskKind.AGENT
            for task in self.tasks.values()
        )

    @property
    def plan_tasks(self) -> tuple[TaskState, ...]:
        """The tasks of the plan itself, without the steps of its agents."""
        return tuple(task for task in self.tasks.values() if not task.parent)

    def steps_of(self, task_id: str) -> tuple[TaskState, ...]:
        """The steps of an agent task, those of earlier attempts and replaced ones too."""
        return tuple(task for task in self.tasks.values() if task.parent == task_id)

    def awaits(self, task_id: str = "") -> bool:
        """Whether a question of this task is open; of the job itself where none is named."""
        return any(question.task_id == task_id for question in self.questions)


class MakePlan(Frozen):
    """Ask the planner."""


class StartTask(Frozen):
    """Start a task that is ready."""

    task_id: str


class Replan(Frozen):
    """Ask the replanner to continue from a failed task."""

    task_id: str


class AdvanceNode(Frozen):
    """Let an agent plan its steps, take the next one, or conclude."""

    task_id: str
    must_end: str = ""
    """The limit that is reached: it must conclude from what it has."""


class Revise(Frozen):
    """Ask the reviser whether what was found changes what is still to do."""

    considered: int


class Verify(Frozen):
    """Ask the verifier about the results of this round."""

    iteration: int


class FillGaps(Frozen):
    """Have incomplete results worked again, and plan what is missing."""

    iteration: int


class WriteReport(Frozen):
    """Ask the synthesiser."""


Action = (
    MakePlan | StartTask | AdvanceNode | Replan | Revise | Verify | FillGaps | WriteReport | EndJob
)


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
    seconds: float = 0.0
    contradicts_plan: bool = False


class PlanReceipt(Frozen):
    """What a planning, replanning or revision changed."""

    revision: int = 0
    added: tuple[TaskState, ...] = ()
    is_partial: bool = False
    """Whether `added` did not fit into one payload; the rest is read with `read_tasks`."""
    superseded: tuple[str, ...] = ()
    changed: tuple[TaskState, ...] = ()
    """Unfinished tasks that are another now: refined, wired anew, or to be worked again."""
    asks: tuple[OpenQuestion, ...] = ()
    halt: Halt | None = None
    tokens: int = 0


class NodeReceipt(Frozen):
    """How an agent task goes on: with more steps, or with its result."""

    result: TaskReceipt
    """Its status is `running` while there are steps to take."""
    added: tuple[TaskState, ...] = ()
    superseded: tuple[str, ...] = ()
    asks: tuple[OpenQuestion, ...] = ()
    waits_for: tuple[str, ...] = ()
    """Tasks that are to answer a question of it: from now on it depends on them."""


class RoundReceipt(Frozen):
    """What a verification came to."""

    iteration: int
    stop: StopCondition | None = None
    asks: tuple[OpenQuestion, ...] = ()
    halt: Halt | None = None
    tokens: int = 0


class AnswerReceipt(Frozen):
    """What an answer means for the job."""

    ends: EndJob | None = None
    """How the job is to end because of it."""
    reports: bool = False
    """Whether it reports what it found before that."""
    begins_anew: bool = False
    """Whether the plan or the settings changed in PostgreSQL, for a fresh run to read."""
    refused: str = ""
    """Why the answer cannot be taken, in at most 200 characters; the question stays open."""


class ReportReceipt(Frozen):
    """Whether a report was delivered."""

    lacks_answer: bool = False
    """Whether it comes to no answer."""
    statements: int = 0
    citations: int = 0
    first_lines: str = ""
    """The report's beginning for the workflow's memo, at most 300 characters."""
    halt: Halt | None = None
    tokens: int = 0
