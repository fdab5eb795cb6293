"""Compute the job state after an action starts, a receipt arrives or a question is answered."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.jobs.job_state import (
    Action,
    AdvanceAgentTask,
    AgentTaskReceipt,
    AnswerReceipt,
    BeginLoop,
    ControlReceipt,
    EndJob,
    FillGaps,
    Halt,
    JobCounts,
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
from holdfast.models.questions.user_questions import OpenQuestion, QuestionKind
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.verification.verification_verdicts import StopCondition


def rebuild_state(
    strategy: Strategy,
    counts: JobCounts,
    tasks: Iterable[TaskState],
    *,
    is_paused: bool = False,
    closing: EndJob | None = None,
) -> JobState:
    """Build the state from the rows in PostgreSQL, for a new run or for display."""
    fresh = JobState(
        strategy=strategy,
        has_plan=counts.has_plan,
        replans=counts.replans,
        tool_calls=counts.tool_calls,
        has_report=counts.has_report,
        lacks_answer=counts.lacks_answer,
        revisions=counts.revisions,
        results_considered=counts.results_considered,
        rounds=counts.rounds,
        questions=counts.questions,
        is_paused=is_paused,
        closing=closing,
    )
    return with_tasks(fresh, tasks)


def start_action(state: JobState, action: Action) -> JobState:
    """Return the state after `action` has started."""
    match action:
        case Replan(task_id=task_id):
            task = state.tasks[task_id]
            return _count_replan(state, task, +1, {**state.replanning, task.parent: task_id})
        case StartTask(task_id=task_id):
            return _set_call_status(state, state.tasks[task_id], TaskStatus.RUNNING, +1)
        case AdvanceAgentTask(task_id=task_id):
            return replace(state, advancing=(*state.advancing, task_id))
        case Revise():
            return replace(state, is_revising=True, revisions=state.revisions + 1)
        case _:
            return _set_flag(state, action, is_on=True)


def undo_action(state: JobState, action: Action) -> JobState:
    """Return the state without a started `action` that could not run and may run later.

    Raises:
        KeyError: the task is not there.
    """
    match action:
        case Replan(task_id=task_id):
            task = state.tasks[task_id]
            return _count_replan(state, task, -1, _without_scope(state.replanning, task.parent))
        case StartTask(task_id=task_id):
            return _set_call_status(state, state.tasks[task_id], TaskStatus.PENDING, -1)
        case AdvanceAgentTask(task_id=task_id):
            return _stop_advancing(state, task_id)
        case Revise():
            return replace(state, is_revising=False, revisions=state.revisions - 1)
        case _:
            return _set_flag(state, action, is_on=False)


def _set_flag(state: JobState, action: Action, *, is_on: bool) -> JobState:
    """Return the state with the flag of an action of which only one is under way at a time."""
    match action:
        case BeginLoop() | MakePlan():
            return replace(state, is_planning=is_on)
        case Verify() | FillGaps():
            return replace(state, is_verifying=is_on)
        case WriteReport():
            return replace(state, is_reporting=is_on)
        case _:
            return state


def set_paused(state: JobState, *, is_paused: bool = True) -> JobState:
    """Return the state of a job that is paused, or resumed.

    Resuming a job also answers its budget question.
    """
    if is_paused:
        return replace(state, is_paused=True)
    left = tuple(each for each in state.questions if each.kind is not QuestionKind.BUDGET)
    return replace(state, is_paused=False, questions=left)


def with_tasks(state: JobState, tasks: Iterable[TaskState]) -> JobState:
    """Return the state with tasks added, or replaced where the id is there already."""
    return replace(state, tasks={**state.tasks, **{t.id: t for t in tasks}})


def apply_plan_receipt(state: JobState, action: Action, receipt: PlanReceipt) -> JobState:
    """Return the state after the plan change that `action` asked for."""
    known = with_tasks(state, receipt.changed)
    changed = _merge_plan_change(known, receipt.added, receipt.superseded, receipt.questions)
    changed = replace(changed, halt=state.halt or receipt.halt)
    match action:
        case Replan(task_id=task_id):
            parent = state.tasks[task_id].parent
            if receipt.halt is None and not receipt.superseded:
                changed = with_tasks(changed, (changed.tasks[task_id].given_up(),))
            return replace(changed, replanning=_without_scope(state.replanning, parent))
        case BeginLoop():
            return replace(changed, is_planning=False)
        case Revise(results_considered=considered):
            left = [changed.tasks[name].given_up() for name in receipt.given_up]
            changed = with_tasks(changed, left)
            seen = [changed.tasks[name].considered() for name in receipt.considered]
            revised = with_tasks(changed, seen)
            return replace(revised, is_revising=False, results_considered=considered)
        case FillGaps(round=round_):
            is_empty = receipt.halt is None and not (receipt.added or receipt.changed)
            stop = StopCondition.NOTHING_LEFT if is_empty else state.rounds.stop
            rounds = state.rounds.after_filling(round_, stop)
            return replace(changed, is_verifying=False, rounds=rounds)
        case _:
            has_plan = state.has_plan or receipt.halt is None
            planned = replace(changed, is_planning=False, has_plan=has_plan)
            return _reporting_findings(planned)


def _reporting_findings(state: JobState) -> JobState:
    """Return the state of a job without a valid plan: what its opening loop found is reported."""
    halt, opening = state.halt, state.opening
    if halt is None or halt.reason is not StopReason.PLANNING_FAILED:
        return state
    if opening is None or opening.status is not TaskStatus.DONE:
        return state
    ending = EndJob(status=JobStatus.FAILED, reason=halt.reason, message=halt.message)
    return replace(state, halt=None, closing=ending)


def apply_task_receipt(state: JobState, receipt: TaskReceipt) -> JobState:
    """Return the state after a task attempt ended; a final status does not change."""
    task = state.tasks[receipt.task_id]
    if task.status is not TaskStatus.RUNNING or task.attempt != receipt.attempt:
        return state
    changed = with_tasks(state, (task.after(receipt),))
    agent_task = changed.tasks.get(task.parent)
    if agent_task is not None:
        changed = with_tasks(changed, (agent_task.with_more_seconds(receipt.seconds),))
    return replace(changed, halt=state.halt or receipt.halt)


def apply_agent_receipt(state: JobState, receipt: AgentTaskReceipt) -> JobState:
    """Return the state after one turn of an agent: new steps, a question, or a result."""
    task_id = receipt.result.task_id
    known = _stop_advancing(state, task_id)
    if known.tasks[task_id].attempt != receipt.result.attempt:
        return known
    folded = _merge_plan_change(known, receipt.added, receipt.superseded, receipt.questions)
    if receipt.waits_for:
        waiting = folded.tasks[task_id].waiting_for(receipt.waits_for)
        folded = with_tasks(folded, (waiting,))
    return apply_task_receipt(folded, receipt.result)


def apply_round_receipt(state: JobState, receipt: VerificationRoundReceipt) -> JobState:
    """Return the state after a verification round."""
    judged = replace(state, is_verifying=False, halt=state.halt or receipt.halt)
    if receipt.halt is not None:
        return judged
    rounds = state.rounds.after_verification(receipt.round, receipt.stop)
    return replace(judged, rounds=rounds, questions=(*state.questions, *receipt.questions))


def apply_control_receipt(state: JobState, receipt: ControlReceipt) -> JobState:
    """Return the state after a control that may have asked a question."""
    asked = receipt.question
    if asked is None or any(each.id == asked.id for each in state.questions):
        return state
    return replace(state, questions=(*state.questions, asked))


def apply_answer_receipt(state: JobState, question: int, receipt: AnswerReceipt) -> JobState:
    """Return the state after an answer to a question, or after its deadline moved."""
    if receipt.new_deadline is not None:
        return _move_deadline(state, question, receipt.new_deadline)
    left = tuple(each for each in state.questions if each.id != question)
    answered = replace(state, questions=left)
    asked = next((each for each in state.questions if each.id == question), None)
    if asked is not None and asked.kind is QuestionKind.BUDGET:
        answered = replace(answered, is_paused=False)
    if receipt.ending is None:
        return answered
    if receipt.reports_first:
        return replace(answered, closing=receipt.ending)
    halt = Halt(reason=receipt.ending.reason, message=receipt.ending.message)
    return replace(answered, closing=receipt.ending, halt=state.halt or halt)


def _move_deadline(state: JobState, question: int, deadline: datetime) -> JobState:
    moved = (
        each.model_copy(update={"deadline": deadline}) if each.id == question else each
        for each in state.questions
    )
    return replace(state, questions=tuple(moved))


def apply_report_receipt(state: JobState, receipt: ReportReceipt) -> JobState:
    """Return the state after the report was written, or refused."""
    return replace(
        state,
        is_reporting=False,
        has_report=receipt.halt is None,
        lacks_answer=receipt.lacks_answer,
        halt=state.halt or receipt.halt,
    )


def halt_action(state: JobState, action: Action, halt: Halt) -> JobState:
    """Return the state after an action other than a task failed for good."""
    return replace(undo_action(state, action), halt=state.halt or halt)


def _set_call_status(state: JobState, task: TaskState, status: TaskStatus, calls: int) -> JobState:
    """Return the state with a task started (+1) or undone (-1); only tool tasks count as calls."""
    counted = state.tool_calls + (calls if task.kind is TaskKind.TOOL else 0)
    return replace(with_tasks(state, (task.with_status(status),)), tool_calls=counted)


def _count_replan(
    state: JobState, task: TaskState, more: int, replanning: Mapping[str, str]
) -> JobState:
    replans = {**state.replans, task.root: state.replans.get(task.root, 0) + more}
    return replace(state, replanning=replanning, replans=replans)


def _without_scope(replanning: Mapping[str, str], parent: str) -> dict[str, str]:
    return {scope: task_id for scope, task_id in replanning.items() if scope != parent}


def _stop_advancing(state: JobState, task_id: str) -> JobState:
    left = tuple(each for each in state.advancing if each != task_id)
    return replace(state, advancing=left)


def _merge_plan_change(
    state: JobState,
    tasks: Iterable[TaskState],
    superseded: Iterable[str],
    questions: tuple[OpenQuestion, ...],
) -> JobState:
    gone = frozenset(superseded)
    open_still = (each for each in state.questions if each.task_id not in gone)
    superseded_tasks = (state.tasks[name].superseded() for name in gone if name in state.tasks)
    known = replace(with_tasks(state, superseded_tasks), questions=(*open_still, *questions))
    # One that is known already is further than it was when it was added: a question that is
    # routed again names the task that looks into it again.
    return with_tasks(known, (task for task in tasks if task.id not in known.tasks))
