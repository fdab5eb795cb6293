"""Answerer by rules: answer with the item that shares the most words with the question."""

import json

from holdfast.roles.agents.answerer import AnswererAnswer, AnswererTask, KnownItem
from holdfast.roles.extractive.text.words_and_sentences import stems

_ENOUGH = 0.6
"""The share of the question's content words that an item must have."""


def answer(task: AnswererTask) -> AnswererAnswer:
    """The value of the best item; empty if no item shares enough words."""
    wanted = frozenset(stems(task.question))
    scored = [(_share(wanted, each), -place) for place, each in enumerate(task.items)]
    if not wanted or not scored or max(scored)[0] < _ENOUGH:
        return AnswererAnswer()
    best = task.items[-max(scored)[1]]
    return AnswererAnswer(answer=_text(best), rests_on=best.id)


def _share(wanted: frozenset[str], item: KnownItem) -> float:
    told = frozenset(stems(f"{item.about.replace('_', ' ')} {_text(item)}"))
    return len(wanted & told) / len(wanted) if wanted else 0.0


def _text(item: KnownItem) -> str:
    return item.says if isinstance(item.says, str) else json.dumps(item.says, ensure_ascii=False)
