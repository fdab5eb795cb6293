"""Tests for the allowed answers to a question, by the kind of question."""

import pytest

from holdfast.models.errors import BadInput
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.planning.questions.answer_choices import answer_text, parse_answer

APPROVAL, QUESTION, ESCALATION, BUDGET = (
    QuestionKind.APPROVAL,
    QuestionKind.QUESTION,
    QuestionKind.ESCALATION,
    QuestionKind.BUDGET,
)


@pytest.mark.parametrize(
    ("kind", "text", "answer"),
    [
        (APPROVAL, "approve", ("approve", "")),
        (APPROVAL, "refuse too dear", ("refuse", "too dear")),
        (APPROVAL, " revise  look again ", ("revise", "look again")),
        (QUESTION, "approve of it", ("", "approve of it")),
        (QUESTION, "12", ("", "12")),
        (ESCALATION, "accept", ("accept", "")),
        (ESCALATION, "accept no rumours", ("", "accept no rumours")),
        (BUDGET, "raise 20000", ("raise", "20000")),
    ],
)
def test_an_answer_is_a_choice_or_words_or_both(
    kind: QuestionKind, text: str, answer: tuple[str, str]
) -> None:
    assert parse_answer(kind, text) == answer


@pytest.mark.parametrize(
    ("kind", "text", "fault"),
    [
        (APPROVAL, "", "answer with `approve`, `refuse`, `edit`, `revise`"),
        (APPROVAL, "yes", "'yes' is no answer to a question of kind approval"),
        (APPROVAL, "revise", "needs words"),
        (QUESTION, "  ", "the answer is empty; answer with words of your own"),
        (BUDGET, "go on", "`raise`, `report`, `stop`"),
    ],
)
def test_what_is_no_answer_is_refused_with_those_there_are(
    kind: QuestionKind, text: str, fault: str
) -> None:
    with pytest.raises(BadInput, match=fault):
        parse_answer(kind, text)


def test_an_answer_is_kept_with_its_words_but_an_edited_plan_is_not() -> None:
    assert answer_text("refuse", "too dear") == "refuse: too dear"
    assert answer_text("edit", "tasks: []") == "edit"
    assert answer_text("", "words") == "words"
