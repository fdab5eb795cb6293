"""Say in a sentence what an entry of a job's log means to somebody who waits for the answer.

Whether an entry has a sentence depends on the entry alone: the numbers of a response's events count
on that. The words may use what else is stored.
"""

from collections import defaultdict
from collections.abc import Mapping

from holdfast.models.text.terminal_text import shorten_text, single_line
from holdfast.models.views.job_views import EventView
from holdfast.models.wire.event_kinds import EventKind

_MAX_LENGTH = 400
_SENTENCES: Mapping[str, str] = {
    EventKind.TASK_STARTED: "{description}",
    EventKind.TASK_FAILED: "Task {task} failed: {failure}",
    EventKind.LOOP_HANDED_OVER: "The rest needs a plan: {why}",
    EventKind.JOB_RECOVERED: "A service was away. The work goes on where it stopped.",
    EventKind.JOB_PAUSED: "The job is paused: {message}",
    EventKind.JOB_RESUMED: "The job goes on.",
    EventKind.MODEL_AWAITED: "The job waits for its model: {why}",
    EventKind.QUESTION_ASKED: "The job asks a question of kind {kind}.",
    EventKind.QUESTION_ANSWERED: "A question was answered: {origin}.",
    EventKind.REPORT_DELIVERED: "The report is written: {kept} sentences, {citations} citations.",
}
"""The sentence of a kind of entry, with its facts in braces."""


def progress_sentence(entry: EventView, descriptions: Mapping[str, str]) -> str | None:
    """The entry in words; None if only programs need it. `descriptions` are those of tasks."""
    sentence = _SENTENCES.get(entry.kind)
    if sentence is None:
        return None
    words = {
        **entry.facts,
        "task": entry.task,
        "description": descriptions.get(entry.task) or f"Task {entry.task} begins.",
        "message": entry.facts.get("message") or f"by {entry.facts.get('by')}",
    }
    text = sentence.format_map(defaultdict(str, words))
    return shorten_text(single_line(text), _MAX_LENGTH)
