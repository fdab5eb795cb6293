"""Define the messages that the agent of a cited loop is sent; each goes out as one JSON object."""

from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.tasks.named_value import NamedValue


class BriefMessage(Frozen):
    """A message without its empty fields: every turn sends all messages again."""

    @model_serializer(mode="wrap")
    def _without_empty_fields(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = handler(self)
        return {name: value for name, value in content.items() if value not in ("", None, (), [])}


class ShownPassage(BriefMessage):
    """A passage under its number in the transcript; its text is shown once."""

    n: int
    title: str = ""
    date: str = ""
    text: str = ""


class ShownCall(BriefMessage):
    """The result of one query, or of one call of a tool."""

    call: str = ""
    """The query, or the tool with its first input; empty: the question itself."""
    passages: tuple[ShownPassage, ...] = ()
    shown_above: tuple[int, ...] = ()
    """Passages that were found too, and whose text is in an earlier message or result."""
    note: str = ""
    """What the tool says of its passages, or why there are none."""


class ResultMessage(BriefMessage):
    """The results of the calls of a turn, in their order."""

    results: tuple[tuple[ShownCall, ...], ...] = ()
    """One entry for each call; a search has one result for each of its queries."""
    guidance: tuple[str, ...] = ()
    """What the user has said since the last turn."""
    answers: tuple[str, ...] = ()
    must_answer: str = ""
    """Why no more calls are possible."""


class CompactedPassage(BriefMessage):
    """What is kept of a passage after compaction: sentences word for word."""

    n: int
    title: str = ""
    sentences: tuple[str, ...] = ()


class EarlierAttempt(BriefMessage):
    """What earlier attempts at the task found, tried, and could not find."""

    found: tuple[NamedValue, ...] = ()
    """Their values; the quotes that show them are in `kept`, and may be cited."""
    tried: tuple[str, ...] = ()
    """Their queries and other calls; the newest, if there are many."""
    not_found: tuple[str, ...] = ()
    """What the last answer left open."""


class LoopTask(BriefMessage):
    """The first message of a loop."""

    question: str
    today: str
    collection: str = ""
    """What can be searched: how many documents and passages, and their titles if they are few."""
    criteria: str = ""
    """When the answer of an agent task counts as complete."""
    expects: tuple[ExpectedEntity, ...] = ()
    """The values that `answer` returns by name; none: the sentences are the answer."""
    given: tuple[NamedValue, ...] = ()
    """What the tasks that it depends on found."""
    hints: tuple[str, ...] = ()
    """What an earlier attempt at the task left open."""
    earlier_attempt: EarlierAttempt | None = None
    tools: tuple[str, ...] = ()
    """Signature lines of the tools for `use`."""
    instructions: str = ""
    """What the operator tells this agent."""
    guidance: tuple[str, ...] = ()
    first_search: tuple[ShownCall, ...] = ()
    kept: tuple[CompactedPassage, ...] = ()
    """What was read before, word for word: by the tasks that it depends on, by earlier attempts,
    or before a compaction."""
    tried: tuple[str, ...] = ()
    """After a compaction: the queries so far; the newest, if there are many."""
    left_out: str = ""
    """How many entries of which field have no room."""
    must_answer: str = ""


class RefusedSentence(BriefMessage):
    """A sentence of the answer that is not shown by its quotes."""

    sentence: int
    text: str
    why: str


class RefusedValue(BriefMessage):
    """A promised value that is missing, of another type, not shown, or too uncertain."""

    name: str
    why: str


class RefusalMessage(BriefMessage):
    """What was wrong with an answer, and how to correct it."""

    refused: tuple[RefusedSentence, ...] = ()
    refused_values: tuple[RefusedValue, ...] = ()
    not_following: str = ""
    """Why the sentences do not give the answer."""
    correct: str
    """What the agent does now."""
