"""Answerer role: answer an agent's question from values and passages of the job."""

from pydantic import Field, JsonValue

from holdfast.models.answer_draft import Draft
from holdfast.models.frozen_model import Frozen
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role


class KnownItem(Frozen):
    """Something the job knows: a found value, or a passage that was read."""

    id: str = Field(description="T2.height for a value that was found, E4 for a passage")
    about: str = Field(description="what the value is, or where the passage stands")
    says: JsonValue


class AnswererTask(Frozen):
    """What the answerer is given."""

    question: str
    items: tuple[KnownItem, ...]


class AnswererAnswer(Draft):
    """The answer and the one item that it rests on; null where nothing answers it."""

    answer: str | None = Field(default=None, description="short and complete; null if not known")
    rests_on: str | None = Field(default=None, description="the id of the item that says it")


ANSWERER = Role(
    name=RoleName.ANSWERER.value,
    instructions="""\
An agent of a research job has a `question` before it can go on; `items` are what the job knows
already. If one of the items answers the question fully, give the answer in its words and its id in
`rests_on`. If none does, both are null: somebody else is asked then, so do not guess, do not
combine hints, and use no knowledge of your own.
""",
    foreign_fields=("question", "items"),
    task=AnswererTask,
    answer=AnswererAnswer,
)
