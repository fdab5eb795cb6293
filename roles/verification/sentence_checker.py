"""Sentence checker role: judge whether cited passages support each report sentence."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from holdfast.models.answer_draft import Draft
from holdfast.models.frozen_model import Frozen
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role


class SupportLevel(StrEnum):
    """How far the cited passages carry a sentence."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"


class CitedPassage(Frozen):
    """A passage that sentences cite."""

    id: str
    title: str
    text: str


class CitingSentence(Frozen):
    """A sentence with the ids of the passages it cites."""

    id: str = Field(description="S1, S2 and so on")
    text: str
    cites: tuple[str, ...]


class SentenceCheckerTask(Frozen):
    """What the sentence checker is given: all sentences of a report at once."""

    sentences: tuple[CitingSentence, ...]
    passages: tuple[CitedPassage, ...]


class SentenceVerdict(Draft):
    """The verdict on one sentence; `s1` is S1."""

    id: Annotated[str, StringConstraints(strip_whitespace=True, to_upper=True)]
    why: str = Field(default="", description="what the passages do not say, in a few words")
    verdict: SupportLevel


class SentenceCheckerAnswer(Draft):
    """A verdict on each sentence."""

    verdicts: list[SentenceVerdict]


SENTENCE_CHECKER = Role(
    name=RoleName.SENTENCE_CHECKER.value,
    instructions="""\
You check the sentences of a report against the passages they cite. For each sentence: `supported`
if its passages together say all that it says; `partly` if they say something weaker, or only a part
of it; `unsupported` if they do not say it or say otherwise. Judge by the passages alone: that a
sentence is true is not enough. Say in a few words what is missing. Give one verdict for each id.
""",
    foreign_fields=("sentences", "passages"),
    task=SentenceCheckerTask,
    answer=SentenceCheckerAnswer,
)
