"""Run a job one activity at a time without Temporal, so that a test can lose or repeat any step.

The state is carried from receipt to receipt as the workflow does it, and can be rebuilt from
PostgreSQL after any of them. Which of the activities under way is worked next hangs on the seed and
its name alone, so a job takes the same course whatever is lost.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any
from uuid import uuid4

from holdfast.activities import interfaces
from holdfast.activities.interfaces import Stub
from holdfast.activities.registration import activities_by_type
from holdfast.models.errors import Passing
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.activity_orders import (
    AgentTaskOrder,
    AttemptOrder,
    BeginOrder,
    EndOrder,
    ReadTasksOrder,
    ReplanOrder,
    ReportOrder,
    ReviseOrder,
    TaskOrder,
    VerificationRoundOrder,
)
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.jobs.job_state import (
    Action,
    AdvanceAgentTask,
    AgentTaskReceipt,
    BeginLoop,
    EndJob,
    FillGaps,
    JobState,
    MakePlan,
    PlanReceipt,
    Replan,
    ReportReceipt,
    Revise,
    StartTask,
    TaskReceipt,
    TaskState,
    VerificationRoundReceipt,
    Verify,
    WriteReport,
)
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.planning.scheduler import state_transitions as changes
from holdfast.planning.scheduler.next_actions import decide
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.storage.jobs import job_rows
from tests.support.jobs.running_engine import RunningEngine

MOST_STEPS = 300
"""Of a job here; one that takes more goes in circles."""


@dataclass
class JobDriver:
    """One job on its way."""

    engine: RunningEngine
    job_id: str
    seed: int
    epoch: int = 0
    runs: int = 0
    steps: int = 0
    attempt: int = 1
    under_way: list[Action] = field(default_factory=list)
    ending: EndJob | None = None
    state: JobState = field(init=False)

    @classmethod
    async def submitted(
        cls,
        engine: RunningEngine,
        preset_name: str,
        question: str,
        *,
        seed: int = 0,
        servers: tuple[str, ...] = (),
        **settings: str,
    ) -> "JobDriver":
        """A new job that nobody has worked on yet, and its first run."""
        strategy = with_settings(preset(preset_name).strategy, dict(settings))
        request = JobRequest(
            question=question,
            preset=preset_name,
            model="scripted",
            strategy=strategy,
            servers=servers,
        )
        job_id, _ = await job_rows.submit_job(engine.db, f"job-{uuid4().hex[:8]}", request, None)
        drive = cls(engine, job_id, seed)
        await drive.begin()
        return drive

    async def begin(self) -> None:
        """Take the job over as a new run: all that is known comes from PostgreSQL."""
        self.runs += 1
        order = BeginOrder(job_id=self.job_id, run_id=f"run-{self.runs}")
        brief = await self._run(interfaces.begin_job, order)
        self.epoch, self.attempt, self.under_way = brief.epoch, brief.attempt, []
        tasks, after = list(brief.page.tasks), brief.page.next_after
        while after is not None:
            pages = ReadTasksOrder(job_id=self.job_id, epoch=self.epoch, after=after)
            page = await self._run(interfaces.read_tasks, pages)
            tasks, after = [*tasks, *page.tasks], page.next_after
        self.state = changes.rebuild_state(
            brief.strategy, brief, tasks, is_paused=brief.is_paused, closing=brief.closing
        )

    def decide(self) -> None:
        """Start what is to be started now."""
        for action in decide(self.state):
            if isinstance(action, EndJob):
                self.ending = action
                return
            self.state = changes.start_action(self.state, action)
            if not self._is_agent(action):
                self.under_way.append(action)

    def _is_agent(self, action: Action) -> bool:
        if not isinstance(action, StartTask):
            return False
        return self.state.tasks[action.task_id].kind is TaskKind.AGENT

    async def step(self, worked: "ActivityRunner") -> None:
        """One activity comes back, whichever the seed chooses; or the job ends."""
        assert self.ending is None, f"it has ended: {self.ending}"
        self.decide()
        if self.ending is not None:
            return
        if not self.under_way:
            self.decide()
        if self.ending is not None:
            return
        assert self.under_way, "nothing is under way and nothing starts"
        self.steps += 1
        assert self.steps <= MOST_STEPS, f"it goes in circles: {self.under_way}"
        action = min(self.under_way, key=self._chance)
        self.under_way.remove(action)
        receipt = await worked(self.activity(action))
        self.state = self._folded(action, receipt)

    def _chance(self, action: Action) -> float:
        return Random(f"{self.seed} {type(action).__name__} {action}").random()

    async def end(self) -> None:
        """Record the ending."""
        assert self.ending is not None
        order = EndOrder(
            job_id=self.job_id,
            epoch=self.epoch,
            status=self.ending.status,
            reason=self.ending.reason,
            message=self.ending.message,
        )
        await self._run(interfaces.end_job, order)

    def activity(self, action: Action) -> Callable[[], Awaitable[Frozen]]:
        """The activity that the workflow would start for this action, with its order."""
        stub, order = self._activity_order(action)
        return partial(self._run, stub, order)

    async def _run(self, stub: Stub, order: Frozen) -> Any:
        return await activities_by_type(self.engine.parts)[stub.__name__](order)

    def _activity_order(self, action: Action) -> tuple[Stub, Frozen]:
        base = self._order().model_dump()
        running = tuple(
            task.id for task in self.state.tasks.values() if task.status is TaskStatus.RUNNING
        )
        match action:
            case BeginLoop():
                return interfaces.begin_loop, self._order()
            case MakePlan():
                return interfaces.make_plan, self._order()
            case Replan(task_id=name):
                return interfaces.replan, ReplanOrder(**base, task_id=name, under_way=running)
            case Revise(results_considered=results_considered):
                order = ReviseOrder(
                    **base, results_considered=results_considered, under_way=running
                )
                return interfaces.revise_plan, order
            case Verify(round=number):
                return interfaces.verify_results, VerificationRoundOrder(**base, round=number)
            case FillGaps(round=number):
                return interfaces.fill_gaps, VerificationRoundOrder(**base, round=number)
            case WriteReport():
                return interfaces.write_report, ReportOrder(**base)
        return self._task_order(action)

    def _task_order(self, action: Action) -> tuple[Stub, Frozen]:
        match action:
            case AdvanceAgentTask(task_id=name, must_end=must_end):
                steps = len(self.state.steps_of(name))
                order = AgentTaskOrder(**self._of(name), turn=steps, must_end=must_end)
                return interfaces.advance_agent, order
            case StartTask(task_id=name):
                is_tool_task = self.state.tasks[name].kind is TaskKind.TOOL
                stub = interfaces.tool_task if is_tool_task else interfaces.reasoning_task
                return stub, TaskOrder(**self._of(name))
        raise AssertionError(action)

    def _order(self) -> AttemptOrder:
        return AttemptOrder(job_id=self.job_id, epoch=self.epoch, attempt=self.attempt)

    def _of(self, name: str) -> dict[str, object]:
        attempt = self.state.tasks[name].attempt
        return {"job_id": self.job_id, "epoch": self.epoch, "task_id": name, "attempt": attempt}

    def _folded(self, action: Action, receipt: Frozen) -> JobState:
        match action, receipt:
            case ((BeginLoop() | MakePlan() | Replan() | Revise() | FillGaps()), PlanReceipt()):
                assert not receipt.is_partial
                return changes.apply_plan_receipt(self.state, action, receipt)
            case _, AgentTaskReceipt():
                return changes.apply_agent_receipt(self.state, receipt)
            case _, VerificationRoundReceipt():
                return changes.apply_round_receipt(self.state, receipt)
            case _, ReportReceipt():
                return changes.apply_report_receipt(self.state, receipt)
            case _, TaskReceipt():
                return changes.apply_task_receipt(self.state, receipt)
        raise AssertionError((action, receipt))

    def settled(self) -> JobState:
        """The state without what is under way, as a new run is to find it."""
        state = self.state
        for action in reversed(self.under_way):
            state = changes.undo_action(state, action)
        return state


ActivityRunner = Callable[[Callable[[], Awaitable[Frozen]]], Awaitable[Frozen]]
"""Works one activity; it may be lost or doubled on the way."""


async def run_once(activity: Callable[[], Awaitable[Frozen]]) -> Frozen:
    """As it should be."""
    return await activity()


async def run_twice(activity: Callable[[], Awaitable[Frozen]]) -> Frozen:
    """Its completion is lost, so it is worked again; it must come to the same."""
    first = await activity()
    again = await activity()
    assert _untold(again) == _untold(first)
    return again


async def run_side_by_side(activity: Callable[[], Awaitable[Frozen]]) -> Frozen:
    """Two workers work it at once; whoever is second is tried again, as Temporal does."""

    async def patiently() -> Frozen:
        while True:
            try:
                return await activity()
            except Passing:
                continue

    first, second = await asyncio.gather(patiently(), patiently())
    assert _untold(first) == _untold(second)
    return second


def _untold(receipt: Frozen) -> Frozen:
    """Without its tokens: what was answered on the way is not asked again."""
    if isinstance(receipt, AgentTaskReceipt):
        result = receipt.result.model_copy(update={"tokens": 0})
        return receipt.model_copy(update={"result": result})
    return receipt.model_copy(update={"tokens": 0})


def comparable_state(state: JobState) -> JobState:
    """What decides how the job goes on.

    Not how long it took, which is measured at two places, nor what a person reads. An agent at
    work has nothing under way of its own: whether it has been started yet makes no difference.
    """
    tasks = {name: _comparable(task) for name, task in sorted(state.tasks.items())}
    questions = tuple(sorted(state.questions, key=lambda each: each.id))
    replans = {root: count for root, count in state.replans.items() if count}
    return replace(state, tasks=tasks, questions=questions, replans=replans)


def _comparable(task: TaskState) -> TaskState:
    status = task.status
    if task.kind is TaskKind.AGENT and status is TaskStatus.RUNNING:
        status = TaskStatus.PENDING
    return task.model_copy(update={"note": "", "seconds": 0.0, "status": status})
