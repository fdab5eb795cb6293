"""Predict the next actions of a job and describe them in words."""

from collections.abc import Mapping, Set
from dataclasses import replace

from holdfast.models.jobs.job_state import (
    Action,
    AdvanceAgentTask,
    BeginLoop,
    EndJob,
    FillGaps,
    JobState,
    MakePlan,
    Replan,
    Revise,
    StartTask,
    TaskReceipt,
    Verify,
    WriteReport,
)
from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.models.wire import stored_keys
from holdfast.planning.scheduler import state_transitions as transitions
from holdfast.planning.scheduler.next_actions import decide

_ACTION_WORDS: Mapping[type[Action], str] = {
    BeginLoop: "search and answer in one dialogue",
    MakePlan: "plan the research",
    Revise: "revise the unfinished tasks",
    WriteReport: "write the report",
}


def expected_actions(state: JobState, running_activities: Set[str]) -> tuple[str, ...]:
    """The actions that `decide` takes next: now, or once the running tasks have succeeded.

    `running_activities` are the ids of the activities that Temporal runs.
    """
    state = _with_running_activities(state, running_activities)
    prefix = ""
    if state.is_paused:
        state = transitions.set_paused(state, is_paused=False)
        prefix = "once resumed: "
    actions = decide(state)
    running = [task.id for task in state.tasks.values() if task.status is TaskStatus.RUNNING]
    if not actions and running:
        actions = decide(_with_tasks_done(state, running))
        prefix += f"after {', '.join(running)}: "
    return tuple(prefix + _in_words(action) for action in actions)


def _with_tasks_done(state: JobState, names: list[str]) -> JobState:
    for name in names:
        attempt = state.tasks[name].attempt
        receipt = TaskReceipt(task_id=name, attempt=attempt, status=TaskStatus.DONE)
        state = transitions.apply_task_receipt(state, receipt)
    return state


def _with_running_activities(state: JobState, running: Set[str]) -> JobState:
    """The state with the activities that only Temporal knows of."""
    replanned = [
        task for name, task in state.tasks.items() if stored_keys.replan_activity(name) in running
    ]
    advancing = {stored_keys.task_of_activity(name) for name in running}
    return replace(
        state,
        is_planning=bool({stored_keys.PLAN_ACTIVITY, stored_keys.LOOP_ACTIVITY} & running),
        is_reporting=stored_keys.REPORT_ACTIVITY in running,
        is_revising=any(stored_keys.is_revision_activity(name) for name in running),
        is_verifying=any(stored_keys.is_verification_activity(name) for name in running),
        replanning={task.parent: task.id for task in replanned},
        advancing=tuple(
            task.id
            for task in state.tasks.values()
            if task.kind is TaskKind.AGENT and task.id in advancing
        ),
    )


def _in_words(action: Action) -> str:
    match action:
        case StartTask(task_id=task_id):
            return f"start {task_id}"
        case AdvanceAgentTask(task_id=task_id):
            return f"continue {task_id}"
        case Replan(task_id=task_id):
            return f"replan from {task_id}"
        case Verify(round=round_):
            return f"verify the results, round {round_}"
        case FillGaps(round=round_):
            return f"fill the gaps of round {round_}"
        case EndJob(status=status, reason=reason):
            return f"end: {status.value} ({reason.value.replace('_', ' ')})"
    return _ACTION_WORDS[type(action)]
