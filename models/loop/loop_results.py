"""Define the transcript and the result of a cited loop as they are stored."""

from enum import StrEnum
from typing import Literal

from pydantic import Field, JsonValue

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.frozen_model import Frozen
from holdfast.models.loop.loop_handover import Handover


class TranscriptMessage(Frozen):
    """One message of a loop's transcript."""

    position: int
    role: Literal["system", "user", "assistant"]
    content: str
    steps: tuple[tuple[str, ...], ...] = ()
    """Of a message of the model: for each of its calls, the ids of the plan's steps."""


class NumberedPassage(Frozen):
    """A passage under its number in a transcript."""

    number: int
    source_id: int
    step_id: str
    """The step whose answer has the passage."""
    attempt: int
    passage: SourcePassage


class Transcript(Frozen):
    """The transcript of one attempt at an agent task."""

    messages: tuple[TranscriptMessage, ...] = ()
    """The messages since the last compaction."""
    passages: tuple[NumberedPassage, ...] = ()
    compactions: int = 0
    replies: int = 0
    """How many replies the model has given, also before the last compaction."""
    next_position: int = 0


class LinkStrength(StrEnum):
    """How strongly the quotes of a sentence show it."""

    STATED = "stated"
    IMPLIED = "implied"
    WEAK = "weak"


class ProvenQuote(Frozen):
    """A quote of a sentence: `text[start:end]` of the source is the quote."""

    source_id: int
    step_id: str
    attempt: int
    start: int
    end: int
    quote: str


class ProvenSentence(Frozen):
    """A sentence of the answer that passed the proof."""

    text: str
    quotes: tuple[ProvenQuote, ...]
    evidence_ids: tuple[int, ...] = ()
    """The stored evidence of the quotes, in their order; set when the result is stored."""
    strength: LinkStrength = LinkStrength.STATED


class ProvenValue(Frozen):
    """A promised value with its located quotes; one from given values alone has no quotes."""

    name: str
    value: JsonValue
    confidence: float = Field(ge=0, le=1)
    quotes: tuple[ProvenQuote, ...] = ()
    why_refused: str = ""
    """Why the proof refuses it; empty: it is shown."""


class DroppedSentence(Frozen):
    """A sentence that was dropped, and why."""

    text: str
    why: str


class LoopResult(Frozen):
    """The proven answer of a loop."""

    short: str = ""
    sentences: tuple[ProvenSentence, ...] = ()
    values: tuple[ProvenValue, ...] = ()
    """The promised values of an agent task of a plan."""
    open: tuple[str, ...] = ()
    dropped: tuple[DroppedSentence, ...] = ()
    follows: bool = True
    """True if the sentences give the short answer."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """That of the weakest link; None without an answer."""
    judged_by: str = ""
    """The model that judged the sentences; empty: rules alone."""
    is_repaired: bool = False
    """True if sentences were sent back once."""
    sub_questions: tuple[str, ...] = ()
    """Named instead of an answer, because the question is wide."""
    contradicts: str = ""
    """What shows that the question of an agent task assumes something wrong."""
    handover: Handover | None = None
    """Of the loop that a job begins with: why a plan is needed; None if it answered."""
