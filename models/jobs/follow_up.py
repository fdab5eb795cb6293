"""Define what a question takes from the conversation before it (REP-08; VMAO section 3.2)."""

from collections.abc import Iterable, Sequence

from pydantic import Field

from holdfast.models.frozen_model import Frozen
from holdfast.models.text.terminal_text import shorten_text

MOST_EARLIER = 4
"""Earlier questions that a prompt shows; the newest count."""
MOST_GIVEN = 200
"""Earlier questions that a submission may name."""
_LONGEST_QUESTION = 400
_LONGEST_ANSWER = 600
_LONGEST_QUERY = 600
MAX_TEXT = 100_000
"""Characters of an earlier question or answer; prompts show fewer."""
_BEGIN = "\n\nAsked after:\n"


class EarlierQuestion(Frozen):
    """A question of the same conversation, and the short answer of its report."""

    question: str = Field(min_length=1, max_length=MAX_TEXT)
    answer: str = Field(default="", max_length=MAX_TEXT)
    """Empty: there was no answer."""

    @property
    def in_words(self) -> str:
        """The question and its answer in one line, shortened."""
        asked = shorten_text(" ".join(self.question.split()), _LONGEST_QUESTION)
        told = shorten_text(" ".join(self.answer.split()), _LONGEST_ANSWER)
        return f"- {asked} Answer: {told or 'none was found.'}"


class FollowUp(Frozen):
    """The conversation and the job that a question follows, as they were at its submission."""

    job: str = ""
    """The passages that this job's report cites are where the new job starts.

    Empty: the conversation was held elsewhere.
    """
    earlier: tuple[EarlierQuestion, ...] = ()
    """The conversation so far, the newest question last."""


def question_in_context(question: str, earlier: Iterable[EarlierQuestion]) -> str:
    """Return the question as a model is asked it: with the earlier questions below it."""
    lines = [each.in_words for each in list(earlier)[-MOST_EARLIER:]]
    return question + _BEGIN + "\n".join(lines) if lines else question


def query_in_context(question: str, earlier: Sequence[EarlierQuestion]) -> str:
    """Return the words of a search for the question: with the last question and its answer."""
    if not earlier:
        return question
    words = f"{question} {earlier[-1].question} {earlier[-1].answer}".split()
    return shorten_text(" ".join(words), max(_LONGEST_QUERY, len(question)))


def without_context(question: str) -> str:
    """Return the question without the earlier questions of `question_in_context`."""
    return question.partition(_BEGIN)[0]
