"""Show the results of a loop's steps as its transcript does, and read what a message has shown."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.loop.loop_messages import CompactedPassage, ShownCall
from holdfast.models.loop.loop_results import TranscriptMessage
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.tasks.agent_role_task import AnsweredQuestion
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.text.reference_marks import disarm_references
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.loop.passage_numbers import PassageNumbers
from holdfast.storage.plans.transcript_rows import ReadPassage

MAX_CALL = 300
"""Characters of a call in a transcript."""
_MAX_FAILURE = 400
_MAX_NOTE = 300


@dataclass(frozen=True)
class ShownSteps:
    """Steps with their answers, shown under the numbers of one transcript."""

    steps: Sequence[StoredTask]
    answers: Mapping[str, ToolAnswer]
    numbers: PassageNumbers
    search: str
    """The name of the search tool."""

    def step(self, step: StoredTask) -> ShownCall:
        """Return the result of one step: its passages, or why there are none."""
        call = call_in_words(step, self.search)
        if step.task.status is not TaskStatus.DONE:
            why = step.failure.message if step.failure else step.task.status.value
            return ShownCall(call=call, note=f"failed: {shorten_text(why, _MAX_FAILURE)}")
        answer = self.answers.get(step.task.id)
        texts, above = self.numbers.show(answer.passages if answer else ())
        notes = (_note_of(answer), "" if texts or above else "nothing found")
        note = "; ".join(filter(None, notes))
        return ShownCall(call=call, passages=texts, shown_above=above, note=note)

    def step_or_note(self, step: StoredTask | None, name: str) -> ShownCall:
        """Return the result of a step; a note if a person has taken the step out of the plan."""
        if step is None:
            return ShownCall(call=name, note="it was taken out of the plan")
        return self.step(step)

    def read_passages(self) -> list[ReadPassage]:
        """Return the passages that were numbered now, each with the first step that read it."""
        return [
            ReadPassage(number, passage, step.task.id, step.attempt)
            for number, passage in self.numbers.added
            for step in (next(each for each in self.steps if self._has(each, passage)),)
        ]

    def _has(self, step: StoredTask, passage: object) -> bool:
        answer = self.answers.get(step.task.id)
        return answer is not None and passage in answer.passages


def _note_of(answer: ToolAnswer | None) -> str:
    """Return what a tool says of its passages, such as which words are nowhere; empty for none."""
    structured = answer.structured if answer else None
    note = structured.get("note") if isinstance(structured, dict) else None
    return shorten_text(str(disarm_references(note)), _MAX_NOTE) if isinstance(note, str) else ""


def answered_question(answers: Sequence[AnsweredQuestion]) -> ShownCall:
    """Return the answer to the question that the agent asked last."""
    if not answers:
        return ShownCall(call="ask", note="nobody answers: go on without")
    said = answers[-1]
    return ShownCall(call=f"ask: {said.question}", note=f"{said.by}: {said.answer}")


def content_of(message: TranscriptMessage) -> dict[str, Any]:
    """The content of a message that the agent was sent; empty for the system message."""
    if message.role != "user":
        return {}
    try:
        content = json.loads(message.content)
    except ValueError:
        return {}  # a correction is plain text
    return content if isinstance(content, dict) else {}


def shown_passages(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the passages of a message that the agent was sent."""
    calls = [*content.get("first_search", ())]
    for results in content.get("results", ()):
        calls += results
    for call in calls:
        yield from call.get("passages", ())


def kept_passages(content: Mapping[str, Any]) -> list[CompactedPassage]:
    """The sentences that an earlier compaction kept."""
    return [CompactedPassage.model_validate(each) for each in content.get("kept", ())]


def guidance_count(message: TranscriptMessage) -> int:
    """How many words of the user the message has told."""
    return len(content_of(message).get("guidance", ()))


def call_in_words(step: StoredTask, search: str) -> str:
    """The call of a step as a transcript shows it; of a search its query alone."""
    values = [value_as_text(each.value) for each in step.task.inputs if each.value is not None]
    name = "" if step.task.tool == search and values else step.task.tool
    return shorten_text(": ".join(part for part in (name, *values[:1]) if part), MAX_CALL)
