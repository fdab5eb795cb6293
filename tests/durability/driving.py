"""A job worked one activity at a time, without Temporal, so that each step can be lost or doubled.

The state is carried from receipt to receipt as the workflow does it, and can be rebuilt from
PostgreSQL after any of them. Which of the activities under way is worked next hangs on the seed and
its name alone, so a job takes the same course whatever is lost.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from uuid import uuid4

from activities.begin import Begin
from activities.ending import Ending
from activities.gaps import GapFilling
from activities.nodes import NodeWork
from activities.parts import Requests
from activities.plan import Planning
from activities.report import Reporting
from activities.revising import Revising
from activities.tasks import TaskWork
from activities.verifying import Verifying
from models.base import Frozen
from models.errors import Passing
from models.jobs import JobRequest
from models.orders import (
    BeginOrder,
    EndOrder,
    NodeOrder,
    ReadTasksOrder,
    ReplanOrder,
    ReportOrder,
    ReviseOrder,
    RoundOrder,
    TaskOrder,
    WorkOrder,
)
from models.plan import TaskKind, TaskStatus
from models.state import (
    Action,
    AdvanceNode,
    EndJob,
    FillGaps,
    JobState,
    MakePlan,
    NodeReceipt,
    PlanReceipt,
    Replan,
    ReportReceipt,
    Revise,
    RoundReceipt,
    StartTask,
    TaskReceipt,
    TaskState,
    Verify,
    WriteReport,
)
from planning import state as changes
from planning.decide import decide
from planning.presets import preset, with_settings
from storage import jobs
from tests.support.engine import Engine

MOST_STEPS = 300
"""Of a job here; one that takes more goes in circles."""


@dataclass
class Drive:
    """One job on its way."""

    engine: Engine
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
        cls, engine: Engine, preset_name: str, question: str, *, seed: int = 0, **settings: str
    ) -> "Drive":
        """A new job that nobody has worked on yet, and its first run."""
        strategy = with_settings(preset(preset_name).strategy, dict(settings))
        request = JobRequest(
            question=question, preset=preset_name, model="scripted", strategy=strategy
        )
        job_id, _ = await jobs.submit(engine.db, f"job-{uuid4().hex[:8]}", request, None)
        drive = cls(engine, job_id, seed)
        await drive.begin()
        return drive

    async def begin(self) -> None:
        """Take the job over as a new run: all that is known comes from PostgreSQL."""
        self.runs += 1
        begin = Begin(self.engine.db)
        order = BeginOrder(job_id=self.job_id, run_id=f"run-{self.runs}")
        brief = await begin.begin_job(order)
        self.epoch, self.attempt, self.under_way = brief.epoch, brief.attempt, []
        tasks, after = list(brief.page.tasks), brief.page.next_after
        while after is not None:
            page = await begin.read_tasks(
                ReadTasksOrder(job_id=self.job_id, epoch=self.epoch, after=after)
            )
            tasks, after = [*tasks, *page.tasks], page.next_after
        self.state = changes.rebuilt(
            brief.strategy, brief, tasks, is_paused=brief.is_paused, closing=brief.closing
        )

    def decide(self) -> None:
        """Start what is to be started now."""
        for action in decide(self.state):
            if isinstance(action, EndJob):
                self.ending = action
                return
            self.state = changes.started(self.state, action)
            if not self._is_agent(action):
                self.under_way.append(action)

    def _is_agent(self, action: Action) -> bool:
        if not isinstance(action, StartTask):
            return False
        return self.state.tasks[action.task_id].kind is TaskKind.AGENT

    async def step(self, worked: "Worker") -> None:
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
            job_id=self.job_id, epoch=self.epoch, status=self.ending.status,
            reason=self.ending.reason, message=self.ending.message,
        )  # fmt: skip
        await Ending(self.engine.db).end_job(order)

    def activity(self, action: Action) -> Callable[[], Awaitable[Frozen]]:  # noqa: C901 - a case each
        """What the workflow would have a worker do."""
        parts, base = self.engine.parts, self._order().model_dump()
        common = (parts.db, parts.models, Requests(parts.db))
        running = tuple(
            task.id for task in self.state.tasks.values() if task.status is TaskStatus.RUNNING
        )
        match action:
            case MakePlan():
                order = self._order()
                return lambda: Planning(*common, parts.hub).make_plan(order)
            case Replan(task_id=name):
                replan = ReplanOrder(**base, task_id=name, under_way=running)
                return lambda: Planning(*common, parts.hub).replan(replan)
            case Revise(considered=considered):
                revise = ReviseOrder(**base, considered=considered, under_way=running)
                return lambda: Revising(*common, parts.hub).revise_plan(revise)
            case Verify(iteration=number):
                verify = RoundOrder(**base, iteration=number)
                return lambda: Verifying(*common).verify_results(verify)
            case FillGaps(iteration=number):
                fill = RoundOrder(**base, iteration=number)
                return lambda: GapFilling(*common, parts.hub).fill_gaps(fill)
            case AdvanceNode(task_id=name, must_end=must_end):
                steps = len(self.state.steps_of(name))
                node = NodeOrder(**self._of(name), round=steps, must_end=must_end)
                return lambda: NodeWork(*common, parts.hub).advance_node(node)
            case StartTask(task_id=name):
                task, work = TaskOrder(**self._of(name)), TaskWork(*common, parts.hub)
                if self.state.tasks[name].kind is TaskKind.TOOL:
                    return lambda: work.tool_task(task)
                return lambda: work.reasoning_task(task)
            case WriteReport():
                report = ReportOrder(**base)
                return lambda: Reporting(*common).write_report(report)
        raise AssertionError(action)

    def _order(self) -> WorkOrder:
        return WorkOrder(job_id=self.job_id, epoch=self.epoch, attempt=self.attempt)

    def _of(self, name: str) -> dict[str, object]:
        attempt = self.state.tasks[name].attempt
        return {"job_id": self.job_id, "epoch": self.epoch, "task_id": name, "attempt": attempt}

    def _folded(self, action: Action, receipt: Frozen) -> JobState:
        match action, receipt:
            case ((MakePlan() | Replan() | Revise() | FillGaps()), PlanReceipt()):
                assert not receipt.is_partial
                return changes.planned(self.state, action, receipt)
            case _, NodeReceipt():
                return changes.advanced(self.state, receipt)
            case _, RoundReceipt():
                return changes.verified(self.state, receipt)
            case _, ReportReceipt():
                return changes.reported(self.state, receipt)
            case _, TaskReceipt():
                return changes.finished(self.state, receipt)
        raise AssertionError((action, receipt))

    def settled(self) -> JobState:
        """The state without what is under way, as a new run is to find it."""
        state = self.state
        for action in reversed(self.under_way):
            state = changes.taken_back(state, action)
        return state


Worker = Callable[[Callable[[], Awaitable[Frozen]]], Awaitable[Frozen]]
"""Works one activity; it may be lost or doubled on the way."""


async def once(activity: Callable[[], Awaitable[Frozen]]) -> Frozen:
    """As it should be."""
    return await activity()


async def twice(activity: Callable[[], Awaitable[Frozen]]) -> Frozen:
    """Its completion is lost, so it is worked again; it must come to the same."""
    first = await activity()
    again = await activity()
    assert _untold(again) == _untold(first)
    return again


async def side_by_side(activity: Callable[[], Awaitable[Frozen]]) -> Frozen:
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
    if isinstance(receipt, NodeReceipt):
        result = receipt.result.model_copy(update={"tokens": 0})
        return receipt.model_copy(update={"result": result})
    return receipt.model_copy(update={"tokens": 0})


def comparable(state: JobState) -> JobState:
    """What decides how the job goes on.

    Not how long it took, which is measured at two places, nor what a person reads. An agent at
    work has nothing under way of its own: whether it has been started yet makes no difference.
    """
    tasks = {name: _comparable(task) for name, task in sorted(state.tasks.items())}
    questions = tuple(sorted(state.questions, key=lambda each: each.id))
    replans = {root: count for root, count in state.replans.items() if count}
    return state.model_copy(update={"tasks": tasks, "questions": questions, "replans": replans})


def _comparable(task: TaskState) -> TaskState:
    status = task.status
    if task.kind is TaskKind.AGENT and status is TaskStatus.RUNNING:
        status = TaskStatus.PENDING
    return task.model_copy(update={"note": "", "seconds": 0.0, "status": status})
