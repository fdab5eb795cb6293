"""What a question can be answered with: by its kind a choice, words, or a choice with words."""

from collections.abc import Mapping
from enum import StrEnum

from models.errors import BadInput
from models.questions import QuestionKind


class Choice(StrEnum):
    """What the workflow must know of an answer."""

    APPROVE = "approve"
    REFUSE = "refuse"
    EDIT = "edit"
    REVISE = "revise"
    ACCEPT = "accept"
    RETRY = "retry"
    RAISE = "raise"
    REPORT = "report"
    STOP = "stop"


CHOICES: Mapping[QuestionKind, tuple[Choice, ...]] = {
    QuestionKind.APPROVAL: (Choice.APPROVE, Choice.REFUSE, Choice.EDIT, Choice.REVISE),
    QuestionKind.QUESTION: (),
    QuestionKind.ESCALATION: (Choice.ACCEPT, Choice.RETRY),
    QuestionKind.BUDGET: (Choice.RAISE, Choice.REPORT, Choice.STOP),
}
TAKES_WORDS_ALONE = (QuestionKind.QUESTION, QuestionKind.ESCALATION)
"""Kinds that can be answered in free words."""
NEEDS_WORDS = (Choice.EDIT, Choice.REVISE)
"""Choices that say nothing without words."""
NOBODY_KNOWS = "Nobody answered. Go on without it, and say so where it matters."
"""The default of a question for which the asker gave none."""


def check_answer(kind: QuestionKind, choice: str, *, has_words: bool) -> None:
    """Refuse an answer that does not fit the kind of question.

    Raises:
        BadInput: the message says what can be answered.
    """
    if choice and choice not in CHOICES[kind]:
        raise BadInput(f"{choice!r} is no answer to a question of kind {kind.value}; {_can(kind)}")
    if choice in NEEDS_WORDS and not has_words:
        raise BadInput(f"{choice!r} needs words: what is to be different?")
    if not choice and (kind not in TAKES_WORDS_ALONE or not has_words):
        raise BadInput(f"the answer is empty; {_can(kind)}")


def read_answer(kind: QuestionKind, text: str) -> tuple[str, str]:
    """The choice and the words in what somebody typed.

    Raises:
        BadInput: it does not fit the kind of question.
    """
    first, _, rest = text.strip().partition(" ")
    is_choice = first in CHOICES[kind] and (kind not in TAKES_WORDS_ALONE or not rest.strip())
    if not is_choice and kind not in TAKES_WORDS_ALONE:
        raise BadInput(f"{first!r} is no answer to a question of kind {kind.value}; {_can(kind)}")
    choice, words = (first, rest.strip()) if is_choice else ("", text.strip())
    check_answer(kind, choice, has_words=bool(words))
    return choice, words


def written(choice: str, words: str) -> str:
    """The answer as it is kept; the words of an edit are a plan, which is kept as a revision."""
    if not choice:
        return words
    return f"{choice}: {words}" if words and choice != Choice.EDIT else choice


def _can(kind: QuestionKind) -> str:
    ways = [f"`{each.value}`" for each in CHOICES[kind]]
    if kind in TAKES_WORDS_ALONE:
        ways.append("words of your own")
    return f"answer with {', '.join(ways)}"
