"""Tests that every strategy ends within its limits, whatever planners, agents and verifiers
answer."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.jobs.job_state import (
    Action,
    AdvanceAgentTask,
    AgentTaskReceipt,
    AnswerReceipt,
    BeginLoop,
    EndJob,
    FillGaps,
    Halt,
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
from holdfast.models.plans.research_plan import OPENING_TASK, Plan, Task, TaskKind, TaskStatus
from holdfast.models.questions.user_questions import OpenQuestion, QuestionKind
from holdfast.models.strategies.job_strategy import (
    AgentMethod,
    Beginning,
    Grain,
    Horizon,
    Monitoring,
    OnExhausted,
    Repair,
    ReplanScope,
    Strategy,
    Supervision,
)
from holdfast.models.verification.verification_verdicts import StopCondition
from holdfast.planning.plans.plan_graph import dependents, find_cycle
from holdfast.planning.scheduler import state_transitions as changes
from holdfast.planning.scheduler.agent_scheduling import (
    agent_horizon,
    is_agent_waiting,
    is_running_agent,
)
from holdfast.planning.scheduler.job_endings import is_answered_by_loop
from holdfast.planning.scheduler.next_actions import decide

_OVER = (TaskStatus.DONE, TaskStatus.FAILED)
_MOST_TURNS = 3000


def strategies() -> st.SearchStrategy[Strategy]:
    """Any mixture of settings, with limits small enough to be met."""
    return st.builds(
        Strategy,
        grain=st.just(Grain.AGENTS),
        agent_horizon=st.sampled_from(Horizon),
        monitoring=st.sampled_from(Monitoring),
        repaired_by=st.sampled_from(Repair),
        supervise=st.sampled_from(Supervision),
        begins_with=st.sampled_from(Beginning),
        agent_method=st.sampled_from(AgentMethod),
        verify=st.booleans(),
        slots=st.integers(1, 4),
        replan_scope=st.sampled_from(ReplanScope),
        on_exhausted=st.sampled_from(OnExhausted),
        max_replans_per_task=st.integers(0, 2),
        max_replans=st.integers(0, 5),
        max_tool_calls=st.integers(1, 20),
        max_steps=st.integers(1, 20),
        max_agent_steps=st.integers(1, 5),
        max_agent_calls=st.integers(1, 5),
        max_revisions=st.integers(0, 3),
        max_rounds=st.integers(1, 3),
        agent_timeout=st.sampled_from([timedelta(seconds=3), timedelta(minutes=10)]),
        fixed_agents=st.sampled_from([(), ("generalist",)]),
    )


@dataclass
class World:
    """Everybody whom the workflow asks, answering as the dice fall."""

    data: st.DataObject
    state: JobState
    under_way: list[Action] = field(default_factory=list)
    count: int = 0
    finished: dict[tuple[str, int], TaskStatus] = field(default_factory=dict)

    def draw(self, most: int) -> int:
        return self.data.draw(st.integers(0, most))

    def says(self, odds: int = 2) -> bool:
        return self.draw(odds - 1) == 0

    def fresh(self, parent: str = "") -> str:
        self.count += 1
        return f"{parent}.{self.count}" if parent else f"T{self.count}"

    def new_tasks(self, most: int, *, final: bool) -> tuple[TaskState, ...]:
        """Agents, calls and deductions that depend on whatever is there and was not replaced."""
        known = [t.id for t in self.state.plan_tasks if t.status is not TaskStatus.SUPERSEDED]
        made: list[TaskState] = []
        for _ in range(1 + self.draw(most - 1)):
            able = [*known, *(task.id for task in made)]
            needs = {able[self.draw(len(able) - 1)] for _ in range(self.draw(2))} if able else set()
            kind = (TaskKind.AGENT, TaskKind.AGENT, TaskKind.TOOL, TaskKind.REASONING)[self.draw(3)]
            made.append(state_of(self.fresh(), kind, tuple(sorted(needs))))
        if final:
            made[-1] = made[-1].model_copy(update={"is_final": True})
        return tuple(made)

    def start(self, action: Action) -> None:
        check_start(self.state, action)
        if isinstance(action, MakePlan):
            assert not is_answered_by_loop(self.state), "an answer needs no plan"
        self.state = changes.start_action(self.state, action)
        is_start = isinstance(action, StartTask)
        if not (is_start and self.state.tasks[action.task_id].kind is TaskKind.AGENT):
            self.under_way.append(action)

    def comes_back(self) -> None:
        action = self.under_way.pop(self.draw(len(self.under_way) - 1))
        match action:
            case StartTask(task_id=name):
                self.state = changes.apply_task_receipt(self.state, self.result(name))
            case AdvanceAgentTask(task_id=name, must_end=must_end):
                self.state = changes.apply_agent_receipt(self.state, self.advance(name, must_end))
            case Verify(round=round_):
                self.state = changes.apply_round_receipt(self.state, self.round(round_))
            case WriteReport():
                self.state = changes.apply_report_receipt(self.state, ReportReceipt())
            case BeginLoop() | MakePlan() | Replan() | Revise() | FillGaps():
                self.state = changes.apply_plan_receipt(self.state, action, self.change(action))

    def result(self, name: str) -> TaskReceipt:
        status = TaskStatus.DONE if self.says() else TaskStatus.FAILED
        attempt = self.state.tasks[name].attempt
        return TaskReceipt(task_id=name, attempt=attempt, status=status, seconds=1.0)

    def advance(self, name: str, must_end: str) -> AgentTaskReceipt:
        agent = self.state.tasks[name]
        said = {"contradicts_plan": self.says(), "is_answered": agent.is_opening and self.says()}
        result = self.result(name).model_copy(update=said)
        lost = (
            any(step.status is TaskStatus.FAILED for step in self.state.steps_of(name))
            and agent_horizon(self.state.strategy, agent) is Horizon.FULL
        )
        if must_end or lost or self.says(3):
            return AgentTaskReceipt(result=result)
        going_on = result.model_copy(update={"status": TaskStatus.RUNNING})
        if self.says(4):
            return AgentTaskReceipt(result=going_on, questions=(self.question(name),))
        if not must_end and self.says(6):
            return self.routed(name, going_on)
        steps = []
        for _ in range(1 + self.draw(2)):
            needs = (steps[-1].id,) if steps and self.says() else ()
            kind = TaskKind.TOOL if self.says() else TaskKind.REASONING
            steps.append(state_of(self.fresh(name), kind, needs, parent=name))
        return AgentTaskReceipt(result=going_on, added=tuple(steps))

    def routed(self, name: str, result: TaskReceipt) -> AgentTaskReceipt:
        """Its question goes to another task: one that waits, or one that is new."""
        behind = dependents({t.id: t.depends_on for t in self.state.plan_tasks}, name)
        able = [
            t.id
            for t in self.state.plan_tasks
            if t.status in (TaskStatus.PENDING, TaskStatus.RUNNING)
            and t.id != name
            and t.id not in behind
        ]
        if able and self.says():
            return AgentTaskReceipt(result=result, waits_for=(able[self.draw(len(able) - 1)],))
        new = state_of(self.fresh(), TaskKind.AGENT, ())
        return AgentTaskReceipt(result=result, added=(new,), waits_for=(new.id,))

    def question(self, task_id: str, kind: QuestionKind = QuestionKind.QUESTION) -> OpenQuestion:
        self.count += 1
        return OpenQuestion(id=self.count, kind=kind, task_id=task_id)

    def round(self, round_: int) -> VerificationRoundReceipt:
        is_last = round_ >= self.state.strategy.max_rounds
        stop = StopCondition.MAX_ROUNDS if is_last else None
        if self.says(3):
            stop = StopCondition.READY
        tasks = [task.id for task in self.state.plan_tasks]
        questions = (
            (self.question(tasks[0], QuestionKind.ESCALATION),) if tasks and self.says(4) else ()
        )
        return VerificationRoundReceipt(round=round_, stop=stop, questions=questions)

    def change(self, action: BeginLoop | MakePlan | Replan | Revise | FillGaps) -> PlanReceipt:
        if self.says(12):
            return PlanReceipt(halt=Halt(reason=StopReason.PLANNING_FAILED, message="no plan"))
        match action:
            case BeginLoop():
                opening = state_of(OPENING_TASK, TaskKind.AGENT, ())
                opening = opening.model_copy(update={"is_opening": True})
                return PlanReceipt(change_number=1, added=(opening,))
            case MakePlan():
                questions = (self.question("", QuestionKind.APPROVAL),) if self.says(4) else ()
                final = not self.state.strategy.verify
                return PlanReceipt(
                    change_number=1, added=self.new_tasks(5, final=final), questions=questions
                )
            case Replan(task_id=name):
                return self.continuation(name)
            case Revise():
                return self.revision().model_copy(update={"considered": self.settled()})
            case FillGaps():
                return self.gaps()

    def continuation(self, failed: str) -> PlanReceipt:
        task = self.state.tasks[failed]
        gone = {failed}
        for name, each in self.state.tasks.items():
            if gone & set(each.depends_on) and each.status is TaskStatus.PENDING:
                gone.add(name)
        new = state_of(
            self.fresh(task.parent), TaskKind.TOOL, (), parent=task.parent, root=task.root
        )
        is_final = any(self.state.tasks[name].is_final for name in gone)
        new = new.model_copy(update={"is_final": is_final})
        return PlanReceipt(change_number=2, added=(new,), superseded=tuple(sorted(gone)))

    def settled(self) -> tuple[str, ...]:
        """The results that a revision sees; only one after a batch says which."""
        if self.state.strategy.monitoring is not Monitoring.BATCH:
            return ()
        return tuple(task.id for task in self.state.plan_tasks if task.status.has_run)

    def revision(self) -> PlanReceipt:
        if self.state.strategy.revises_failures and self.says():
            return self.repair()
        pending = [t for t in self.state.plan_tasks if t.status is TaskStatus.PENDING]
        if not pending or self.says():
            return PlanReceipt()
        chosen = pending[self.draw(len(pending) - 1)]
        refined = chosen.model_copy(update={"label": "refined"})
        return PlanReceipt(
            change_number=2, changed=(refined,), added=self.new_tasks(1, final=False)
        )

    def repair(self) -> PlanReceipt:
        """Each failed task is replaced with what needs it, or the plan goes on without it."""
        lost = [
            t.id
            for t in self.state.plan_tasks
            if t.status is TaskStatus.FAILED and not t.is_given_up and not t.is_opening
        ]
        if not lost or self.says(3):
            return PlanReceipt(given_up=tuple(lost))
        return self.continuation(lost[0])

    def gaps(self) -> PlanReceipt:
        over = [t for t in self.state.plan_tasks if t.status in _OVER and not t.is_opening]
        again = [task for task in over if self.says()]
        changed = tuple(
            t.model_copy(update={"status": TaskStatus.PENDING, "attempt": t.attempt + 1})
            for t in again
        )
        for task in again:
            self.finished.pop((task.id, task.attempt), None)
        steps = tuple(s.id for t in again for s in self.state.steps_of(t.id))
        for name in steps:
            self.finished.pop((name, self.state.tasks[name].attempt), None)
        added = self.new_tasks(2, final=False) if self.says() else ()
        return PlanReceipt(change_number=2, changed=changed, added=added, superseded=steps)

    def somebody_answers(self) -> None:
        question = self.state.questions[self.draw(len(self.state.questions) - 1)]
        receipt = AnswerReceipt()
        if question.kind is QuestionKind.APPROVAL and self.says():
            ending = EndJob(status=JobStatus.CANCELLED, reason=StopReason.PLAN_REFUSED)
            receipt = AnswerReceipt(ending=ending)
        self.state = changes.apply_answer_receipt(self.state, question.id, receipt)

    def check(self) -> None:
        """The laws: nothing finished is rewritten, the graph stays acyclic, slots are kept."""
        state = self.state
        for (name, attempt), status in self.finished.items():
            assert state.tasks[name].attempt == attempt
            assert state.tasks[name].status is status, f"{name} was finished and is rewritten"
        self.finished = {
            (t.id, t.attempt): t.status for t in state.tasks.values() if t.status is TaskStatus.DONE
        }
        tasks = tuple(
            Task(id=t.id, kind=t.kind, description="x", depends_on=t.depends_on)
            for t in state.tasks.values()
        )
        assert not find_cycle({task.id: task.depends_on for task in Plan(tasks=tasks).tasks})
        assert state.running_call_count + len(state.advancing) <= state.strategy.slots


def state_of(
    name: str, kind: TaskKind, needs: tuple[str, ...], *, parent: str = "", root: str = ""
) -> TaskState:
    return TaskState(
        id=name, kind=kind, label=name, depends_on=needs, parent=parent, root=root or name
    )


def check_start(state: JobState, action: Action) -> None:
    if isinstance(action, StartTask):
        task = state.tasks[action.task_id]
        assert all(state.tasks[need].status is TaskStatus.DONE for need in task.depends_on)
        assert state.tool_calls <= state.strategy.max_tool_calls
        if task.kind is TaskKind.AGENT:
            at_work = (
                t
                for t in state.plan_tasks
                if is_running_agent(t) and not is_agent_waiting(t, state)
            )
            assert len(tuple(at_work)) < state.strategy.slots
        if task.parent:
            assert state.tasks[task.parent].status is TaskStatus.RUNNING
    if isinstance(action, AdvanceAgentTask):
        steps = state.steps_of(action.task_id)
        assert not any(step.status is TaskStatus.RUNNING for step in steps)
        assert action.task_id not in state.replanning
        assert action.task_id not in state.advancing
        assert not state.has_open_question(action.task_id)
    if isinstance(action, Revise):
        assert state.revisions < state.strategy.max_revisions
    if isinstance(action, Verify):
        assert action.round <= state.strategy.max_rounds
    if isinstance(action, Replan):
        root = state.tasks[action.task_id].root
        assert state.replans.get(root, 0) < state.strategy.max_replans_per_task


@pytest.mark.conformance("TDP-06", "TDP-07", "HZN-04", "VMAO-09")
@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(strategies(), st.data())
def test_every_strategy_ends_for_every_planner(strategy: Strategy, data: st.DataObject) -> None:
    world = World(data, JobState(strategy=strategy))
    for _ in range(_MOST_TURNS):
        actions = decide(world.state)
        for action in actions:
            if isinstance(action, EndJob):
                assert not world.under_way
                return
            world.start(action)
        world.check()
        is_new_agent = any(isinstance(a, StartTask) for a in actions) and not world.under_way
        if is_new_agent:
            continue
        if world.under_way and not (world.state.questions and world.says(4)):
            world.comes_back()
        else:
            assert world.state.questions, "nothing runs, nobody is asked, and the job has not ended"
            world.somebody_answers()
    raise AssertionError("the job did not end")
