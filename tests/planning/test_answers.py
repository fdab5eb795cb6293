"""What a question can be answered with, by its kind."""

import pytest

from models.errors import BadInput
from models.questions import QuestionKind
from planning.answers import read_answer, written

APPROVAL, QUESTION, ESCALATION, BUDGET = (
    QuestionKind.APPROVAL, QuestionKind.QUESTION, QuestionKind.ESCALATION, QuestionKind.BUDGET,
)  # fmt: skip


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
    assert read_answer(kind, text) == answer


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
        read_answer(kind, text)


def test_an_answer_is_kept_with_its_words_but_an_edited_plan_is_not() -> None:
    assert written("refuse", "too dear") == "refuse: too dear"
    assert written("edit", "tasks: []") == "edit"
    assert written("", "words") == "words"
