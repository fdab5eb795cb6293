"""Read a loop's dialogue: its task, and for each search the passages that it showed."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import ValidationError

from holdfast.models.calls.function_calls import FunctionCalls
from holdfast.models.calls.model_requests import Message
from holdfast.models.errors import ModelUnusable
from holdfast.models.loop.loop_messages import (
    LoopTask,
    RefusalMessage,
    ResultMessage,
    ShownCall,
    ShownPassage,
)


class SearchResult(NamedTuple):
    """One search, with its passages and their texts."""

    query: str
    passages: tuple[ShownPassage, ...]


class LoopDialogue(NamedTuple):
    """What the dialogue holds so far."""

    task: LoopTask
    first: tuple[ShownPassage, ...]
    """The passages of the first search."""
    turns: tuple[tuple[SearchResult, ...], ...]
    must_answer: str
    refusal: RefusalMessage | None
    """The refusal of the last answer, if it is the last message."""
    last_reply: FunctionCalls | None


def read_dialogue(messages: Sequence[Message]) -> LoopDialogue:
    """Return the dialogue.

    Raises:
        ModelUnusable: the messages are not those of a loop.
    """
    users = [each for each in messages if each.role == "user"]
    replies = [each for each in messages if each.role == "assistant"]
    try:
        task = LoopTask.model_validate_json(users[0].content)
    except (ValidationError, IndexError) as error:
        raise ModelUnusable(f"the first message of the loop is malformed: {error}") from error
    texts: dict[int, ShownPassage] = {}
    first = _passages(task.first_search, texts)
    turns: list[tuple[SearchResult, ...]] = []
    must_answer, refusal = task.must_answer, None
    for message in users[1:]:
        try:
            content = json.loads(message.content)
        except ValueError as error:
            # A reply of the wrong form is sent back with plain text, and the rules know no other.
            text = f"the built-in model cannot correct its reply: {message.content}"
            raise ModelUnusable(text) from error
        refusal = RefusalMessage.model_validate(content) if "correct" in content else None
        if refusal is None:
            told = ResultMessage.model_validate(content)
            must_answer = must_answer or told.must_answer
            turns.append(
                tuple(
                    SearchResult(shown.call, _passages((shown,), texts))
                    for call in told.results
                    for shown in call
                )
            )
    last = FunctionCalls.model_validate_json(replies[-1].content) if replies else None
    return LoopDialogue(task, first, tuple(turns), must_answer, refusal, last)


def _passages(
    shown: Sequence[ShownCall], texts: dict[int, ShownPassage]
) -> tuple[ShownPassage, ...]:
    """Return the passages with their texts; one that was shown before has its text from there."""
    found: list[ShownPassage] = []
    for call in shown:
        found += [texts[n] for n in call.shown_above if n in texts]
        found += call.passages
        texts |= {passage.n: passage for passage in call.passages}
    return tuple(found)
