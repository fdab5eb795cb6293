"""What a question can be answered with, by its kind."""

import pytest

from models.errors import BadInput
from models.jobs import StopReason
from models.questions import QuestionKind
from models.strategy import Strategy
from planning.answers import read_answer, written
from planning.budget_answers import meaning_of

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


def test_a_cap_is_raised_to_what_is_said_or_doubled() -> None:
    tokens, cost = Strategy(max_tokens=1000), Strategy(max_cost=2.0)

    assert _raised("raise", "5_000", tokens).max_tokens == 5000
    assert _raised("raise", "", tokens).max_tokens == 2000
    assert _raised("raise", "2.5", cost).max_cost == 2.5
    assert _raised("raise", "", cost).max_cost == 4.0


@pytest.mark.parametrize(("words", "fault"), [("lots", "no number"), ("1000", "more than that")])
def test_a_cap_that_is_not_raised_is_refused(words: str, fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        meaning_of("raise", words, Strategy(max_tokens=1000))


def test_stopping_ends_the_job_and_reporting_reports_before() -> None:
    stop, report = (meaning_of(choice, "", Strategy(max_tokens=1)) for choice in ("stop", "report"))

    assert stop.ends is not None
    assert stop.ends.reason is StopReason.BUDGET
    assert (stop.reports, report.reports) == (False, True)


def _raised(choice: str, words: str, strategy: Strategy) -> Strategy:
    found = meaning_of(choice, words, strategy).strategy
    assert found is not None
    return found
