"""Compact a long transcript of a loop: sentences are kept word for word with their passages."""

from collections.abc import Mapping, Sequence

from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.loop.loop_messages import CompactedPassage
from holdfast.models.loop.loop_results import NumberedPassage
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.planning.loop.kept_sentences import (
    best_of_each,
    compacted_passages,
    located_sentences,
)
from holdfast.planning.loop.passage_numbers import passage_title
from holdfast.roles.loop.compactor import COMPACTOR, CompactorTask, ReadText

_LONGEST_TEXT = 4_000


async def keep_sentences(
    model_caller: ModelCaller,
    question: str,
    tried: Sequence[str],
    passages: Sequence[NumberedPassage],
    every: Sequence[NumberedPassage],
    *,
    carried: Mapping[int, list[str]],
    place: str,
    most_tokens: int,
) -> tuple[CompactedPassage, ...]:
    """Return what is kept of the passages; the compactor chooses, rules if it gives no answer.

    `carried` are the sentences of an earlier compaction, which stay while there is room.

    Raises:
        Passing: the model is busy.
        Lasting: the model refused.
    """
    about = " ".join((question, *tried))
    chosen: dict[int, list[str]] = {}
    if model_caller.model_of(COMPACTOR.name) != EXTRACTIVE_MODEL:
        task = CompactorTask(
            question=question, tried=tuple(tried), passages=tuple(map(_read_text, passages))
        )
        asked = await model_caller.ask(COMPACTOR, task, place=place)
        if asked.answer is not None:
            chosen = located_sentences(asked.answer.keep, passages)
    chosen = chosen or best_of_each(passages, about)
    for number, sentences in carried.items():
        kept = chosen.setdefault(number, [])
        kept += [each for each in sentences if each not in kept]
    return compacted_passages(chosen, every, about, most_tokens)


def _read_text(each: NumberedPassage) -> ReadText:
    title = passage_title(each.passage)[:200]
    return ReadText(n=each.number, title=title, text=each.passage.text[:_LONGEST_TEXT])
