"""Say in words what a job's record keeps as single words: causes, kinds, states, ends, models."""

from collections.abc import Mapping

from holdfast.models.budget.token_prices import COST_NOT_KEPT
from holdfast.models.calls.call_status import CallStatus
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import TaskKind
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL

_CAUSES: Mapping[str, str] = {
    PlanChangeCause.PLANNED: "the plan was made",
    PlanChangeCause.STEPPED: "a next step was added",
    PlanChangeCause.EXTENDED: "steps were added",
    PlanChangeCause.REPLANNED: "planned again",
    PlanChangeCause.REVISED: "revised",
    PlanChangeCause.GAPS: "planned for what was missing",
    PlanChangeCause.QUESTION: "a question became a task",
    PlanChangeCause.EDITED: "edited by hand",
    PlanChangeCause.SET_ASIDE: "set aside, and made again",
}
_KINDS: Mapping[str, str] = {
    TaskKind.TOOL: "a call of a tool",
    TaskKind.REASONING: "reasoning",
    TaskKind.AGENT: "an agent",
}
_CALL_WORDS: Mapping[str, str] = {
    CallStatus.STARTED: "under way",
    CallStatus.DONE: "answered",
    CallStatus.UNKNOWN: "ended without an answer",
}
_WHOLE_JOB = frozenset({"plan", "loop", "report", "end"})
_ENDINGS: Mapping[str, str] = {
    StopReason.ANSWERED: "answered",
    StopReason.ANSWERED_WITH_GAPS: "answered, with gaps",
    StopReason.NOTHING_FOUND: "no answer found",
    StopReason.PLANNED: "planned, not run",
    StopReason.PLANNING_FAILED: "no plan could be made",
    StopReason.REPLANS_EXHAUSTED: "no new plan helped",
    StopReason.TOOL_CALL_LIMIT: "limit of searches reached",
    StopReason.RETRY_LIMIT: "too many attempts failed",
    StopReason.STEP_LIMIT: "limit of steps reached",
    StopReason.BUDGET: "spending limit reached",
    StopReason.PLAN_REFUSED: "the plan was refused",
    StopReason.MODEL_REFUSED: "the model refused",
    StopReason.REPORT_REFUSED: "the report failed its checks",
    StopReason.NOTHING_CAN_RUN: "nothing was left to do",
    StopReason.ERROR: "an error ended it",
}
_TASK_WORDS = {"superseded": "replaced", "pending": "waits"}


def cause(name: str) -> str:
    """Why a plan changed."""
    return _CAUSES.get(name, name.replace("_", " "))


def task_kind(kind: str) -> str:
    """How a task gets its result, in words."""
    return _KINDS.get(kind, kind)


def task_state(status: str) -> str:
    """The state of a task, in words."""
    return _TASK_WORDS.get(status, status)


def ending_words(status: str, reason: str | None) -> str:
    """How a job ends or ended whose answer is not looked at; its status, if that says all."""
    return _ENDINGS.get(reason or "", status)


def state_with_ending(status: str, reason: str | None) -> str:
    """The state of a job, and in brackets how it ended."""
    words = ending_words(status, reason)
    return status if words == status else f"{status} ({words})"


def call_state(status: str) -> str:
    """The state of a call, in words."""
    return _CALL_WORDS.get(status, status)


def task_of_call(key: str) -> str:
    """The task that a call was for; empty for a call of the whole job."""
    head, separator, rest = key.partition(":")
    if not separator:
        return "" if head.partition("#")[0] in _WHOLE_JOB else key
    return rest.partition("#")[0] if head == "replan" else ""


def model_name(model: str) -> str:
    """The name of a model as a reader knows it."""
    return "the built-in model" if model == EXTRACTIVE_MODEL else model


def way_on_from_pause(job_id: str, message: str) -> str:
    """Say what `holdfast resume` does with a paused job.

    `message` is what the job stored when it paused by itself, and empty if a person paused it.
    Resumed without a change, a job that paused by itself meets the same full cap or empty account.
    """
    command = f"`holdfast resume {job_id}`"
    if not message:
        return f"continue with {command}"
    if COST_NOT_KEPT in message:
        return f"`holdfast resume {job_id} --set max_cost=none` goes on without the limit max_cost"
    return f"{command} tries the same again"
