"""Put the entries of a job's log into words for the page."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from holdfast.jobs.record_in_words import cause, ending_words, model_name
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.models.tasks.task_failure import Remedy
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.views.job_views import EventView
from holdfast.models.wire.event_kinds import EventKind
from holdfast.web.rendering.methods import method
from holdfast.web.rendering.plain_words import FAILURE_CLASSES, part_for_persons, plain_words
from holdfast.web.rendering.words import percent

_WORDS: Mapping[str, str] = {
    EventKind.JOB_SUBMITTED: "The question was submitted",
    EventKind.JOB_FORKED: "The job began from another job",
    EventKind.JOB_IMPORTED: "The job was imported",
    EventKind.JOB_STARTED: "A worker took the job",
    EventKind.JOB_TAKEN_OVER: "A new run continues the job",
    EventKind.JOB_RECOVERED: "Work continues after a loss",
    EventKind.JOB_PAUSED: "Paused",
    EventKind.JOB_RESUMED: "Resumed",
    EventKind.JOB_RETRIED: "Tasks run again",
    EventKind.JOB_STEERED: "Guidance was accepted",
    EventKind.JOB_CANCELLING: "Cancelled; the end follows",
    EventKind.JOB_REOPENED: "Reopened for its report",
    EventKind.JOB_ENDED: "The job ended",
    EventKind.LOOP_HANDED_OVER: "The loop leaves the rest to a plan",
    EventKind.PLAN_STORED: "The plan is there",
    EventKind.PLAN_CHANGED: "The plan changed",
    EventKind.PLAN_REFUSED: "A proposed plan was refused",
    EventKind.PLAN_CHANGE_REFUSED: "A proposed change was refused; the plan stays",
    EventKind.TASK_STARTED: "Started",
    EventKind.TASK_DONE: "Done",
    EventKind.TASK_FAILED: "Failed",
    EventKind.TASK_VERIFIED: "The result was judged",
    EventKind.TOOL_LEFT_OUT: "A tool cannot be used",
    EventKind.MODEL_AWAITED: "Waits for the model",
    EventKind.MODEL_FALLBACK_USED: "The fallback model answered",
    EventKind.QUESTION_ASKED: "A question to you",
    EventKind.QUESTION_ROUTED: "A task answers an agent's question",
    EventKind.QUESTION_ANSWERED: "The question was answered",
    EventKind.QUESTION_WITHDRAWN: "The question needs no answer any more",
    EventKind.ANSWER_REFUSED: "The answer was refused; the question stays open",
    EventKind.VERIFICATION_REFUSED: "A judgement of the results was refused",
    EventKind.GAPS_REFUSED: "Proposed tasks for the gaps were refused",
    EventKind.GAPS_DROPPED: "Proposed sub-questions were dropped",
    EventKind.REPORT_DELIVERED: "The report was delivered",
    EventKind.REPORT_REFUSED: "The report failed its checks",
    EventKind.EVIDENCE_RETRACTED: "Evidence was retracted",
    EventKind.SOURCES_RECHECKED: "The sources were read again",
    EventKind.STOP_CHECKED: "A verification round ended",
}
_BAD = frozenset({EventKind.TASK_FAILED, EventKind.REPORT_REFUSED, EventKind.PLAN_REFUSED})
_ENDINGS: Mapping[str, str] = {
    StopReason.ANSWERED: "with a report",
    StopReason.ANSWERED_WITH_GAPS: "with gaps",
}
"""How a job ended whose outcome depends on its answer; the top of the page says the outcome."""
_FACT_LENGTH = 160
_INTERNAL = frozenset({"epoch", "number", "question", "status"})
_SHOWN: Mapping[str, frozenset[str]] = {
    EventKind.PLAN_CHANGED: frozenset({"number"}),
    EventKind.TASK_VERIFIED: frozenset({"status"}),
}
"""Facts that are internal elsewhere, by the kinds of entries that say nothing without them."""
_USUAL = (("attempt", 1), ("cause", "planned"), ("to", "report"))
"""Facts that say only what their entry says already."""
_OTHER_MEANING = {(EventKind.TASK_VERIFIED.value, "kept"): "kept_attempt"}
"""Names of facts that mean something else in one kind of entry."""
_PHRASES: Mapping[str, str] = {
    "added": "{} added",
    "superseded": "{} replaced",
    "number": "change {}",
    "reason": "{}",
    "message": "{}",
    "failure": "{}",
    "why": "{}",
    "note": "{}",
    "class": "{}",
    "remedy": "{}",
    "by": "by {}",
    "kind": "{}",
    "kept_attempt": "attempt {} is kept",
    "kept": "sentences kept: {}",
    "citations": "citations: {}",
    "documents": "documents in the collection: {}",
    "job": "from {}",
    "tasks": "chosen: {}",
    "rerun": "run again: {}",
    "changes": "{}",
    "status": "{}",
}
_VALUES: Mapping[str, Mapping[str, str]] = {
    "kind": {
        QuestionKind.APPROVAL: "about the plan",
        QuestionKind.BUDGET: "about the limit",
        QuestionKind.ESCALATION: "about a result",
        QuestionKind.QUESTION: "of an agent",
    },
    "class": FAILURE_CLASSES,
    "remedy": {
        Remedy.RETRY: "it is tried again",
        Remedy.ASK: "the job pauses until a person acts",
        Remedy.REPLAN: "another way is planned",
        Remedy.STOP: "the job ends",
    },
}
"""What a stored word of a fact means."""
_CHANGED = re.compile(r"(model|preset) = (.+)")
"""A change of a fork; a setting has no other name than its own."""
_ONE_WORD = re.compile(r"[a-z]+(_[a-z]+)+")
"""A reason or a state as it is stored, such as `planning_failed`."""


class LogLine(NamedTuple):
    """An entry of the log in words."""

    seq: int
    at: datetime
    task: str
    what: str
    facts: str
    is_bad: bool


def log_line(entry: EventView) -> LogLine:
    """The entry in words, with its facts."""
    # The log of an imported job may have kinds of a later release.
    what = _WORDS.get(entry.kind) or entry.kind.replace(".", " ").replace("_", " ").capitalize()
    say = _FACTS_SAID.get(entry.kind)
    stored = say(entry.facts) if say else entry.facts
    facts = " · ".join(
        _said(_OTHER_MEANING.get((entry.kind, name), name), value)
        for name, value in stored.items()
        if value not in (None, "", [], {}, False)
        and (name not in _INTERNAL or name in _SHOWN.get(entry.kind, ()))
        and (name, value) not in _USUAL
    )
    return LogLine(entry.seq, entry.at, entry.task, what, facts, entry.kind in _BAD)


def _with_one_ending(facts: Mapping[str, object]) -> Mapping[str, object]:
    """The facts with one phrase in the place of the status and the reason."""
    status, reason = (str(facts.get(name) or "") for name in ("status", "reason"))
    others = {name: value for name, value in facts.items() if name != "status"}
    return {**others, "reason": _ENDINGS.get(reason) or ending_words(status, reason)}


def _with_failure_for_persons(facts: Mapping[str, object]) -> Mapping[str, object]:
    """The facts without text for models; where nothing is left, the class says what failed."""
    message, failure_class = (str(facts.get(name) or "") for name in ("failure", "class"))
    return {**facts, "failure": part_for_persons(message, failure_class)}


_FACTS_SAID: Mapping[str, Callable[[Mapping[str, object]], Mapping[str, object]]] = {
    EventKind.JOB_ENDED: _with_one_ending,
    EventKind.TASK_FAILED: _with_failure_for_persons,
}


def _said(name: str, value: object) -> str:
    """A fact as a person says it; one that has no phrase stands after its name."""
    if name == "confidence" and isinstance(value, int | float):
        return f"confidence {percent(value)}"
    if name == "cause":
        return cause(str(value))
    if name == "preset":
        return method(str(value)).title
    if name == "model":
        return model_name(str(value))
    words = _VALUES.get(name, {}).get(str(value)) or _fact(value)
    phrase = _PHRASES.get(name)
    return f"{name.replace('_', ' ')} {words}" if phrase is None else phrase.format(words)


def _fact(value: object) -> str:
    values = value if isinstance(value, list) else [value]
    return shorten_text(", ".join(_in_words(str(each)) for each in values), _FACT_LENGTH)


def _in_words(text: str) -> str:
    if changed := _CHANGED.fullmatch(text):
        is_model = changed[1] == "model"
        return model_name(changed[2]) if is_model else f"the method {method(changed[2]).title}"
    return text.replace("_", " ") if _ONE_WORD.fullmatch(text) else plain_words(text)
