"""Turn a job's log into the events of a response.

`sequence_number` counts the events, and the events follow from the entries of the log alone. So a
client that reconnects after a crash of server or worker continues after the last number it has.

One item of reasoning has a summary part for each sentence of progress. After it comes the outcome:
the report as a message, or a question as a call of `ask_user`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from openai.types.responses import (
    Response,
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)
from openai.types.responses.response_reasoning_item import Summary

from holdfast.api.responses.response_request import ASK_FUNCTION, call_id_of
from holdfast.models.questions.user_questions import UserQuestion
from holdfast.models.responses.stored_response import StoredResponse

Event = dict[str, Any]
"""An event as it is sent: `type`, `sequence_number` and what belongs to the type."""
_LAST_EVENT = {"completed": "completed", "failed": "failed", "cancelled": "incomplete"}
"""The API has no event for a cancelled response; its `status` says it."""


@dataclass(frozen=True)
class Outcome:
    """What a response ends with."""

    response: Response
    item: ResponseOutputItem | None = None
    """The report or the question; None if there is neither."""


@dataclass
class ResponseEvents:
    """Makes the events of one response, in order."""

    stored: StoredResponse
    begun: Response
    """The response as it is before the job has done anything."""
    _next: int = 0
    _sentences: list[str] = field(default_factory=list)

    @property
    def reasoning(self) -> ResponseReasoningItem:
        """The sentences of progress so far."""
        parts = [Summary(type="summary_text", text=text) for text in self._sentences]
        return ResponseReasoningItem(id=f"rs_{self.stored.id}", type="reasoning", summary=parts)

    def begin(self) -> Iterator[Event]:
        """Yield the events before the first entry of the log."""
        begun = dumped(self.begun)
        yield self._event("response.created", response=begun)
        yield self._event("response.in_progress", response=begun)
        yield self._event("response.output_item.added", output_index=0, item=dumped(self.reasoning))

    def progress(self, sentence: str) -> Iterator[Event]:
        """Yield the events of a sentence of progress."""
        place = {
            "item_id": self.reasoning.id,
            "output_index": 0,
            "summary_index": len(self._sentences),
        }
        part, empty = ({"type": "summary_text", "text": text} for text in (sentence, ""))
        summary = "response.reasoning_summary"
        yield self._event(f"{summary}_part.added", **place, part=empty)
        yield self._event(f"{summary}_text.delta", **place, delta=sentence)
        yield self._event(f"{summary}_text.done", **place, text=sentence)
        yield self._event(f"{summary}_part.done", **place, part=part)
        self._sentences.append(sentence)

    def end(self, outcome: Outcome) -> Iterator[Event]:
        """Yield the last events."""
        done = "response.output_item.done"
        yield self._event(done, output_index=0, item=dumped(self.reasoning))
        if isinstance(outcome.item, ResponseOutputMessage):
            yield from self._message(outcome.item)
        elif isinstance(outcome.item, ResponseFunctionToolCall):
            yield from self._call(outcome.item)
        last = _LAST_EVENT[str(outcome.response.status)]
        yield self._event(f"response.{last}", response=dumped(outcome.response))

    def _message(self, message: ResponseOutputMessage) -> Iterator[Event]:
        (text,) = message.content
        assert isinstance(text, ResponseOutputText), "a report is a text"
        place = {"item_id": message.id, "output_index": 1, "content_index": 0}
        begun = message.model_copy(update={"content": [], "status": "in_progress"})
        empty = ResponseOutputText(type="output_text", text="", annotations=[])
        yield self._event("response.output_item.added", output_index=1, item=dumped(begun))
        yield self._event("response.content_part.added", **place, part=dumped(empty))
        yield self._event("response.output_text.delta", **place, delta=text.text, logprobs=[])
        for number, annotation in enumerate(text.annotations):
            yield self._event(
                "response.output_text.annotation.added",
                **place,
                annotation_index=number,
                annotation=dumped(annotation),
            )
        yield self._event("response.output_text.done", **place, text=text.text, logprobs=[])
        yield self._event("response.content_part.done", **place, part=dumped(text))
        yield self._event("response.output_item.done", output_index=1, item=dumped(message))

    def _call(self, call: ResponseFunctionToolCall) -> Iterator[Event]:
        place = {"item_id": call.id, "output_index": 1}
        arguments = "response.function_call_arguments"
        begun = call.model_copy(update={"arguments": "", "status": "in_progress"})
        yield self._event("response.output_item.added", output_index=1, item=dumped(begun))
        yield self._event(f"{arguments}.delta", **place, delta=call.arguments)
        yield self._event(f"{arguments}.done", **place, name=call.name, arguments=call.arguments)
        yield self._event("response.output_item.done", output_index=1, item=dumped(call))

    def _event(self, kind: str, **content: object) -> Event:
        event = {"type": kind, "sequence_number": self._next, **content}
        self._next += 1
        return event


def question_call(question: UserQuestion) -> ResponseFunctionToolCall:
    """The call of `ask_user` that asks a question."""
    arguments = {
        "question": question.text,
        "choices": list(question.choices),
        "default": question.default,
        "deadline": question.deadline.isoformat() if question.deadline else None,
    }
    call_id = call_id_of(question.job_id, question.id)
    return ResponseFunctionToolCall(
        type="function_call",
        id=f"fc_{call_id}",
        call_id=call_id,
        name=ASK_FUNCTION,
        arguments=json.dumps(arguments, ensure_ascii=False),
        status="completed",
    )


def dumped(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any model of the openai package
    """The object as it is sent."""
    content: dict[str, Any] = value.model_dump(mode="json", exclude_unset=True, warnings=False)
    return content
