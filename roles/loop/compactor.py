"""Compactor role: choose which sentences of a long transcript are kept, word for word."""

from pydantic import Field

from holdfast.models.answer_draft import Draft
from holdfast.models.frozen_model import Frozen
from holdfast.models.loop.loop_functions import Cite
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role


class ReadText(Frozen):
    """A passage that was read, under its number."""

    n: int
    title: str
    text: str


class CompactorTask(Frozen):
    """What was read so far."""

    question: str
    tried: tuple[str, ...] = Field(description="the queries so far")
    passages: tuple[ReadText, ...]


class CompactorAnswer(Draft):
    """The sentences to keep."""

    keep: list[Cite] = Field(
        description="each sentence that the answer may need, copied word for word"
    )


COMPACTOR = Role(
    name=RoleName.COMPACTOR.value,
    instructions="""\
A long search is running out of room; `tried` are its queries. Choose the sentences of `passages`
that the answer to `question` may need, also as a link to the next search, and copy each word for
word with the number of its passage. Leave out what does not concern the question, and what another
sentence says too. Do not summarise.
""",
    foreign_fields=("passages", "tried"),
    task=CompactorTask,
    answer=CompactorAnswer,
)
