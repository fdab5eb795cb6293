"""Put the corrections of a refused answer in their places."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from holdfast.models.loop.loop_functions import (
    AnswerSentence,
    LoopAnswer,
    PromisedValue,
    PromisingAnswer,
)


@dataclass(frozen=True)
class RefusedAnswer:
    """An answer that was sent back, with the numbers of its refused sentences, and its values."""

    answer: LoopAnswer
    sentences: tuple[int, ...]
    values: tuple[str, ...]
    """The names of the refused values."""
    is_alone: bool
    """True if the agent was asked for these alone, and has not searched since."""


def with_corrections(refused: RefusedAnswer, again: LoopAnswer) -> LoopAnswer:
    """Return the refused answer with the corrected sentences and values in their places.

    Corrected sentences name the sentence that they replace. Where corrections alone were asked for,
    they may also come in the order of the refused ones. Everything else is a whole new answer. A
    value that was not refused stays unless it is corrected too.
    """
    first = refused.answer
    sentences = _corrected_sentences(refused, again)
    if isinstance(again, PromisingAnswer) and not again.sentences and not refused.sentences:
        sentences = first.sentences  # only values are corrected
    is_whole = sentences is None
    changes: dict[str, object] = {
        "sentences": again.sentences if sentences is None else sentences,
        "short": again.short if is_whole or again.short.strip() else first.short,
        "open": again.open if is_whole else [*first.open, *again.open],
    }
    if isinstance(first, PromisingAnswer) and isinstance(again, PromisingAnswer):
        changes["values"] = _corrected_values(first.values, again.values, refused.values)
        changes["contradicts"] = again.contradicts or first.contradicts
    return first.model_copy(update=changes)


def _corrected_sentences(refused: RefusedAnswer, again: LoopAnswer) -> list[AnswerSentence] | None:
    """Return the sentences with their corrections; None if these are a whole new answer."""
    numbers = refused.sentences
    by_number: dict[int | None, list[AnswerSentence]] = {}
    for each in again.sentences:
        by_number.setdefault(each.replaces if each.replaces in numbers else None, []).append(each)
    unnamed = by_number.pop(None, [])
    if not by_number and refused.is_alone and len(unnamed) <= len(numbers):
        by_number = {n: [each] for n, each in zip(numbers, unnamed, strict=False)}
    elif unnamed or not by_number:
        return None
    kept = [
        sentence
        for n, each in enumerate(refused.answer.sentences, start=1)
        for sentence in (by_number.get(n, []) if n in numbers else [each])
    ]
    return [each for each in kept if each.text.strip()]


def _corrected_values(
    first: Sequence[PromisedValue], again: Sequence[PromisedValue], refused: Collection[str]
) -> list[PromisedValue]:
    """Return the values that were not refused, unless they are corrected, and the corrections."""
    named = {each.name.strip().casefold() for each in again}
    gone = named | {each.casefold() for each in refused}
    return [*(each for each in first if each.name.strip().casefold() not in gone), *again]
