"""Check and parse a person's answer to a question: a choice, words, or a choice with words."""

from collections.abc import Mapping
from enum import StrEnum

from holdfast.models.errors import BadInput
from holdfast.models.questions.user_questions import QuestionKind


class AnswerChoice(StrEnum):
    """The meaning of an answer, as far as the workflow needs it."""

    APPROVE = "approve"
    REFUSE = "refuse"
    EDIT = "edit"
    REVISE = "revise"
    ACCEPT = "accept"
    RETRY = "retry"
    RAISE = "raise"
    REPORT = "report"
    STOP = "stop"


CHOICES_BY_KIND: Mapping[QuestionKind, tuple[AnswerChoice, ...]] = {
    QuestionKind.APPROVAL: (
        AnswerChoice.APPROVE,
        AnswerChoice.REFUSE,
        AnswerChoice.EDIT,
        AnswerChoice.REVISE,
    ),
    QuestionKind.QUESTION: (),
    QuestionKind.ESCALATION: (AnswerChoice.ACCEPT, AnswerChoice.RETRY),
    QuestionKind.BUDGET: (AnswerChoice.RAISE, AnswerChoice.REPORT, AnswerChoice.STOP),
}
FREE_TEXT_KINDS = (QuestionKind.QUESTION, QuestionKind.ESCALATION)
"""Kinds of questions that accept free text."""
CHOICES_WITH_WORDS = (AnswerChoice.EDIT, AnswerChoice.REVISE)
"""Choices that need a text with them."""
NO_ANSWER_TEXT = "Nobody answered. Go on without it, and say so where it matters."
"""The default answer of a question without one."""


def check_answer(kind: QuestionKind, choice: str, *, has_words: bool) -> None:
    """Refuse an answer that does not fit the kind of question.

    Raises:
        BadInput: the message lists the possible answers.
    """
    if choice and choice not in CHOICES_BY_KIND[kind]:
        raise BadInput(
            f"{choice!r} is no answer to a question of kind {kind.value}; "
            f"{_accepted_answers(kind)}",
            field="choice",
        )
    if choice in CHOICES_WITH_WORDS and not has_words:
        raise BadInput(f"{choice!r} needs words: what is to be different?", field="text")
    if not choice and (kind not in FREE_TEXT_KINDS or not has_words):
        raise BadInput(f"the answer is empty; {_accepted_answers(kind)}", field="text")


def parse_answer(kind: QuestionKind, text: str) -> tuple[str, str]:
    """Split a typed answer into its choice and its text.

    Raises:
        BadInput: the answer does not fit the kind of question.
    """
    first, _, rest = text.strip().partition(" ")
    is_choice = first in CHOICES_BY_KIND[kind] and (kind not in FREE_TEXT_KINDS or not rest.strip())
    if not is_choice and kind not in FREE_TEXT_KINDS:
        raise BadInput(
            f"{first!r} is no answer to a question of kind {kind.value}; {_accepted_answers(kind)}"
        )
    choice, words = (first, rest.strip()) if is_choice else ("", text.strip())
    check_answer(kind, choice, has_words=bool(words))
    return choice, words


def answer_text(choice: str, words: str) -> str:
    """Return the answer to store; an edited plan is stored as a plan change, not as text."""
    if not choice:
        return words
    return f"{choice}: {words}" if words and choice != AnswerChoice.EDIT else choice


def _accepted_answers(kind: QuestionKind) -> str:
    ways = [f"`{each.value}`" for each in CHOICES_BY_KIND[kind]]
    if kind in FREE_TEXT_KINDS:
        ways.append("words of your own")
    return f"answer with {', '.join(ways)}"
