"""Say in a few words what a job does now, what it waits for, and what comes next."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.jobs.record_in_words import ending_words, model_name
from holdfast.jobs.work_in_words import work_of_role
from holdfast.models.budget.job_stages import StageName
from holdfast.models.jobs.job_record import Job, StopReason
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import stored_text_in_words
from holdfast.models.views.job_views import JobView
from holdfast.models.views.status_views import LimitUsage, OpenCall, StatusDocument
from holdfast.models.wire import stored_keys
from holdfast.web.rendering.outcomes import outcome
from holdfast.web.rendering.words import sentence

_ACTIVITIES = (
    (re.compile(r"replan"), "Replacing a failed task"),
    (re.compile(r"plan"), "Planning the research"),
    (re.compile(r"revis"), "Revising the plan"),
    (re.compile(r"verif"), "Checking the results"),
    (re.compile(r"fill|gaps"), "Planning for what is missing"),
    (re.compile(r"loop"), "Searching and answering"),
    (re.compile(r"report"), "Writing the report"),
    (re.compile(r"begin"), "Beginning"),
    (re.compile(r"end"), "Ending"),
)
_WITHOUT_ANSWER = {
    "done": "No answer was found; the report says what was searched",
    "failed": "Ended without an answer; what was found is kept",
    "cancelled": "Cancelled; what was found is kept",
}
_NEXT = re.compile(
    r"(?:once resumed: )?(?:after (?P<after>[^:]+): )?"
    r"(?P<what>(?:(?:start|continue) (?P<task>\S+))?.*)"
)
"""A prediction of `expected_actions`."""
_END = re.compile(r"end: (?P<status>\w+) \((?P<reason>[^)]+)\)")
_MOST_NAMED = 3
_LABEL = 90
_ANSWER = 160


class CurrentWork(NamedTuple):
    """The words at the top of a job's page."""

    phase: str
    doing: str
    details: tuple[str, ...]
    waits: tuple[str, ...]
    next: str
    next_details: tuple[str, ...]
    done: int
    planned: int
    money: LimitUsage
    tokens: LimitUsage
    kept_share: float
    """The part of the cap that is kept for the report."""


def current_work(job: Job, view: JobView, status: StatusDocument) -> CurrentWork:
    """Sum up the job for the page."""
    labels = {task.id: task.description for task in view.tasks}
    own = [task for task in view.tasks if not task.parent]
    # A task that the end of the job cancelled was never done; one that a revision took out is gone.
    gone = {"superseded"} if view.status == "cancelled" else {"superseded", "cancelled"}
    counted = [task for task in own if task.status not in gone]
    first, *others = _next(view, status) or [""]
    limits = {usage.what: usage for usage in status.allowances}
    has_button = view.status == "paused" or view.stop_reason == StopReason.PLANNED
    return CurrentWork(
        phase=_phase(view, status),
        doing=_doing(view, status, labels),
        details=tuple(_details(status, labels)),
        # The page has a button where the command line has `holdfast resume`.
        waits=() if has_button else status.blocked_by,
        next=first,
        next_details=tuple(others),
        done=sum(task.status == "done" for task in counted),
        planned=len(counted),
        money=limits[status.currency],
        tokens=limits["tokens"],
        kept_share=job.request.strategy.report_reserve,
    )


def _phase(view: JobView, status: StatusDocument) -> str:
    if status.status != "running" or not status.stages:
        return outcome(view).words
    if status.questions:
        return outcome(view).words
    # A job that runs again may have been compared before; no job is at work on its comparison.
    begun = [stage.name for stage in status.stages if stage.name is not StageName.COMPARE]
    return begun[-1].in_words if begun else outcome(view).words


def _doing(view: JobView, status: StatusDocument, labels: Mapping[str, str]) -> str:
    if view.status == "paused":
        return "Paused; running tasks finish" if status.doing else "Paused; nothing runs"
    for pending in status.doing:
        task = stored_keys.task_of_activity(pending.what)
        if task in labels:
            return f"{task}: {shorten_text(labels[task], _LABEL)}"
    if status.doing:
        return _activity_words(status.doing[0].what)
    if view.status == "queued":
        return "Waiting for a worker"
    if status.questions:
        return "Waiting for your answer"
    return _ended_words(view)


def _ended_words(view: JobView) -> str:
    """What there is of a job that does nothing: the answer, or why there is none."""
    if view.status == "running":
        return _running_words(view)
    if view.stop_reason == StopReason.PLANNED:
        return "The plan is ready to run"
    if view.answer:
        return shorten_text(stored_text_in_words(view.answer), _ANSWER)
    return _WITHOUT_ANSWER[view.status]


def _running_words(view: JobView) -> str:
    """The task of a job whose workflow decides what comes next: no activity of it is open."""
    for task in view.tasks:
        if task.status == "running" and not task.parent:
            return f"{task.id}: {shorten_text(task.description, _LABEL)}"
    return "Deciding what comes next"


def _next(view: JobView, status: StatusDocument) -> list[str]:
    """What comes next, when, and what else begins then."""
    tasks = {task.id: task for task in view.tasks}
    lines, whens = [], []
    for each in status.next:
        parts = _NEXT.fullmatch(each)
        task = tasks.get(parts["task"] or "") if parts else None
        if parts is None or task is None:
            what = _on_the_page(parts["what"] if parts else each)
            running = (parts["after"] or "").split(", ") if parts else []
            lines.append(sentence(shorten_text(_plain_prediction(what), _LABEL)))
            whens.append(_when([name for name in running if name]))
        else:
            lines.append(f"{task.id}: {shorten_text(task.description, _LABEL)}")
            known = [tasks[name] for name in task.depends_on if name in tasks]
            whens.append(_when([need.id for need in known if need.status != "done"]))
    if whens and whens[0]:
        lines.insert(1, whens[0])
    return lines


def _plain_prediction(what: str) -> str:
    return re.sub(r"\breplan from\b", "plan again from", what)


def _when(needs: Sequence[str]) -> str:
    if not needs:
        return ""
    if len(needs) > _MOST_NAMED:
        return f"when {len(needs)} more tasks are done"
    names = " and ".join(filter(None, (", ".join(needs[:-1]), needs[-1])))
    return f"when {names} {'is' if len(needs) == 1 else 'are'} done"


def _on_the_page(predicted: str) -> str:
    """A prediction of what the job does, in the page's words for how jobs end."""
    if end := _END.fullmatch(predicted):
        return f"the job ends: {ending_words(end['status'], end['reason'].replace(' ', '_'))}"
    return predicted


def _activity_words(what: str) -> str:
    found = (words for sign, words in _ACTIVITIES if sign.search(what))
    return next(found, "Keeping its records")


def _work_name(what: str, labels: Mapping[str, str]) -> str:
    """The task that an activity works on, else the activity in words."""
    task = stored_keys.task_of_activity(what)
    return task if task in labels else _activity_words(what)


def _details(status: StatusDocument, labels: Mapping[str, str]) -> list[str]:
    lines = []
    working = [stored_keys.task_of_activity(each.what) for each in status.doing]
    match working:
        case [first, other] if {first, other} <= labels.keys() and status.status != "paused":
            lines.append(f"and {other}: {shorten_text(labels[other], _LABEL)}")
        case [_, _, *_]:
            lines.append(f"{len(working)} tasks at work")
    for pending in status.doing:
        if pending.state == "waiting":
            lines.append(f"{_work_name(pending.what, labels)} waits for its try {pending.attempt}")
        elif pending.state == "scheduled":
            lines.append(f"{_work_name(pending.what, labels)} waits for a worker")
    # A call whose end was not recorded is not at work while nothing else is.
    calls = Counter(_call_words(each) for each in status.model_calls if status.doing or each.until)
    return lines + [
        f"{words} ({count} times)" if count > 1 else words for words, count in calls.items()
    ]


def _call_words(call: OpenCall) -> str:
    if call.until:
        return f"{model_name(call.model)} has to wait: {shorten_text(call.why, _LABEL)}"
    came = f", {call.received_chars:,} characters so far" if call.received_chars else ""
    return f"{model_name(call.model)} is {work_of_role(call.role)}{came}"
