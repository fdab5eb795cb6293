"""Divide what a job spent among its stages, and say why each stage was needed.

Everything is computed from the call ledger, the plan changes and the log; nothing is stored twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from holdfast.models.budget.job_stages import Stage, StageName, ToolBill
from holdfast.models.budget.spend_breakdown import Bill
from holdfast.models.loop.loop_handover import HandoverCause
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.verification.verification_verdicts import StopCondition
from holdfast.models.views.job_views import EventView
from holdfast.models.wire.event_kinds import EventKind
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.budget.spend_totals import sum_bills

STAGE_EVENTS = (
    EventKind.LOOP_HANDED_OVER,
    EventKind.STOP_CHECKED,
    EventKind.REPORT_DELIVERED,
    EventKind.REPORT_REFUSED,
)
"""The entries of the log that stages are explained by."""

_STAGE_BY_ROLE: Mapping[str, StageName] = {
    RoleName.PLANNER: StageName.PLAN,
    RoleName.VERIFIER: StageName.VERIFY,
    RoleName.GAP_PLANNER: StageName.FILL,
    RoleName.SYNTHESISER: StageName.REPORT,
    RoleName.CONDENSER: StageName.REPORT,
    RoleName.SENTENCE_CHECKER: StageName.REPORT,
    RoleName.SENTENCE_CORRECTOR: StageName.REPORT,
    RoleName.CLAIM_MATCHER: StageName.COMPARE,
}
"""Roles that work in one stage only; other roles work wherever their task belongs."""


@dataclass(frozen=True)
class JobCourse:
    """What PostgreSQL has about the course of a job."""

    strategy: Strategy
    opening: str
    """The id of the cited loop that the job began with; empty if it began with a plan."""
    bills: Sequence[Bill]
    tool_bills: Sequence[ToolBill]
    changes: Sequence[StoredPlanChange]
    """Every plan change, oldest first."""
    log: Sequence[EventView]
    """The entries of `STAGE_EVENTS`, oldest first."""

    @cached_property
    def filled_from(self) -> Mapping[str, int]:
        """The tasks that work for filled gaps, each with its first attempt that does.

        These are the tasks that the gap planner had retried, and every task added from then on:
        nothing else is left to do when the first verification round ends.
        """
        attempts: dict[str, int] = {}
        fills = False
        for change in self.changes:
            fills = fills or change.cause is PlanChangeCause.GAPS
            if fills:
                added = dict.fromkeys(change.added, 1)
                retried = {e.task: _number(e.new) for e in change.changed if e.field == "attempt"}
                attempts = {**added, **retried, **attempts}
        return attempts

    @property
    def is_planned(self) -> bool:
        """True if the planner was asked."""
        return any(bill.role == RoleName.PLANNER for bill in self.bills)

    def entries(self, *kinds: EventKind) -> list[EventView]:
        return [entry for entry in self.log if entry.kind in kinds]


def job_stages(course: JobCourse) -> tuple[Stage, ...]:
    """Return the stages that have begun, in their order; together they spent what the job did."""
    bills: dict[StageName, list[Bill]] = {}
    for bill in course.bills:
        bills.setdefault(_stage_of_bill(bill, course), []).append(bill)
    tools: dict[StageName, list[ToolBill]] = {}
    for tool_bill in course.tool_bills:
        stage = _stage_of_task(tool_bill.task, tool_bill.attempt, course)
        tools.setdefault(stage, []).append(tool_bill)
    begun = {*bills, *tools, *_stages_without_calls(course)}
    return tuple(
        _stage(name, _reason(name, course), bills.get(name, ()), tools.get(name, ()))
        for name in StageName
        if name in begun
    )


def _stage_of_bill(bill: Bill, course: JobCourse) -> StageName:
    own = _STAGE_BY_ROLE.get(bill.role)
    return own or _stage_of_task(bill.task, bill.attempt, course)


def _stage_of_task(task: str, attempt: int, course: JobCourse) -> StageName:
    """Return the stage in which an attempt at a task works; replanning belongs to the work."""
    if course.strategy.is_one_loop or (course.opening and task.partition(".")[0] == course.opening):
        return StageName.LOOP
    first = course.filled_from.get(task)
    return StageName.WORK if first is None or attempt < first else StageName.FILL


def _stages_without_calls(course: JobCourse) -> Iterable[StageName]:
    """Return the stages that the log shows, whether or not they have called anything."""
    if course.opening or (course.strategy.is_one_loop and course.changes):
        yield StageName.LOOP
    if course.entries(EventKind.LOOP_HANDED_OVER):
        yield StageName.PLAN
    if course.entries(EventKind.REPORT_DELIVERED, EventKind.REPORT_REFUSED):
        yield StageName.REPORT


def _stage(name: StageName, why: str, bills: Sequence[Bill], tools: Sequence[ToolBill]) -> Stage:
    spent = sum_bills(name.value, bills)
    seconds = sum(each.seconds for each in bills) + sum(each.seconds for each in tools)
    return Stage(
        name=name,
        why=why,
        model_calls=spent.calls,
        tool_calls=sum(each.calls for each in tools),
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cost=spent.cost,
        seconds=round(seconds, 3),
    )


def _reason(name: StageName, course: JobCourse) -> str:
    match name:
        case StageName.LOOP:
            return "The preset first tries to answer the whole question at once."
        case StageName.PLAN:
            return _reason_to_plan(course)
        case StageName.WORK:
            return _reason_to_work(course)
        case StageName.VERIFY:
            return "The preset verifies the results of the plan."
        case StageName.FILL:
            return _reason_to_fill(course)
        case StageName.REPORT:
            return _reason_to_report(course)
        case StageName.COMPARE:
            return "The report was compared with another one, and a model was to match the claims."


def _reason_to_plan(course: JobCourse) -> str:
    handovers = course.entries(EventKind.LOOP_HANDED_OVER)
    if handovers:
        return _handover_sentence(handovers[-1])
    return "The first try failed." if course.opening else "The preset begins with a plan."


def _handover_sentence(entry: EventView) -> str:
    """Return why the loop handed over, with what it left open."""
    why = str(entry.facts.get("why", "")).rstrip(".")
    left = _number(entry.facts.get("open"))
    match entry.facts.get("cause"):
        case HandoverCause.OPEN if left:
            named = why.removeprefix("not found: ")
            return f"The first try left {_counted(left, 'question')} open: {named}."
        case HandoverCause.LIMIT:
            return f"The first try reached a limit: {why}."
        case HandoverCause.REFUSED:
            return f"The proof refused the first answer: {why}."
        case HandoverCause.WIDE:
            return f"{why[:1].upper()}{why[1:]}."
    return f"The first try gave no answer: {why}."


def _reason_to_work(course: JobCourse) -> str:
    if course.strategy.has_fixed_plan:
        return f"The preset has a fixed plan of {_counted(_planned_tasks(course), 'task')}."
    return f"The plan has {_counted(_planned_tasks(course), 'task')}."


def _planned_tasks(course: JobCourse) -> int:
    """Return the number of tasks of the last plan, without what was added to it later."""
    plans = (
        [name for name in change.added if name != course.opening]
        for change in course.changes
        if change.cause is PlanChangeCause.PLANNED and not change.scope
    )
    return next((len(names) for names in reversed(list(plans)) if names), 0)


def _reason_to_fill(course: JobCourse) -> str:
    checks = [each for each in course.entries(EventKind.STOP_CHECKED) if "total" in each.facts]
    if not checks:
        return "The results had gaps."
    complete, total = (_number(checks[0].facts.get(name)) for name in ("complete", "total"))
    return f"The first verification round found {complete} of {_counted(total, 'result')} complete."


def _reason_to_report(course: JobCourse) -> str:
    if course.strategy.is_one_loop or (course.opening and not course.is_planned):
        return "The answer's proven sentences are the report."
    if course.opening and not _planned_tasks(course):
        return "Nothing more was planned; the proven sentences are the report."
    fired = [each.facts.get("fired") for each in course.entries(EventKind.STOP_CHECKED)]
    if fired and fired[-1]:
        return f"Verification stopped: {StopCondition(str(fired[-1])).in_words}."
    return "The work ended."


def _counted(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
