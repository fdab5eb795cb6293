"""Answer judge role: judge in one call whether quotes show an answer's sentences."""

from pydantic import Field

from holdfast.models.answer_draft import Draft
from holdfast.models.frozen_model import Frozen
from holdfast.models.loop.loop_results import LinkStrength
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role


class ShownQuote(Frozen):
    """A quote with its document's title, widened to its whole sentence, table row or list item."""

    title: str
    text: str


class JudgedSentence(Frozen):
    """A sentence of the answer with its quotes."""

    n: int
    text: str
    quotes: tuple[ShownQuote, ...]


class AnswerJudgeTask(Frozen):
    """An answer with all its sentences."""

    question: str
    answer: str
    sentences: tuple[JudgedSentence, ...]
    open: tuple[str, ...] = Field(default=(), description="what the answer says is not stated")


class NotShown(Draft):
    """A sentence that its quotes do not show."""

    n: int
    why: str = Field(default="", description="short")


class AnswerJudgement(Draft):
    """The judgement of an answer."""

    not_shown: list[NotShown] = Field(default_factory=list)
    answer_follows: bool
    missing: str = Field(default="", description="the link that is missing, if it does not follow")
    weakest: int | None = Field(default=None, description="the sentence shown least surely")
    strength: LinkStrength = LinkStrength.STATED


ANSWER_JUDGE = Role(
    name=RoleName.ANSWER_JUDGE.value,
    instructions="""\
Judge an `answer` to `question`. Which `sentences` are not fully shown by the quotes under them? A
title may name the subject of its quote. Names in other spellings, dates in other forms and plain
arithmetic are shown; a claim that goes beyond the quotes, or joins them as they do not, is not.
Do the sentences together give the answer? It follows also where a likely link is inferred and
`open` says so: then the sentence that the link rests on is the weakest, and its strength is weak.
Strength is stated, implied by the quotes, or weak.
""",
    foreign_fields=("sentences", "open"),
    task=AnswerJudgeTask,
    answer=AnswerJudgement,
)
