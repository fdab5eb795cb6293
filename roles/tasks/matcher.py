"""Matcher role: choose the known parameter value that means the same as an argument."""

from pydantic import Field

from holdfast.models.answer_draft import Draft
from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.frozen_model import Frozen
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role


class MatcherTask(Frozen):
    """What the matcher is given: an argument that a tool does not know, and the nearest it does."""

    argument: str
    tool: str
    parameter: str
    description: FromRelease[str] = Field(
        description="what the parameter means, as the tool says it"
    )
    candidates: FromRelease[tuple[str, ...]] = Field(
        description="values that the tool knows, nearest by spelling or meaning"
    )
    """No content: they change with the worker's embedding model, the argument's match does not."""


class MatcherAnswer(Draft):
    """The candidate that means the same, or none."""

    why: str = Field(default="", description="how the nearest candidate differs, in a few words")
    match: str | None = Field(
        default=None, description="the candidate, letter for letter; null if none means the same"
    )


MATCHER = Role(
    name=RoleName.MATCHER.value,
    instructions="""\
A `tool` was called with an `argument` that is not among the values it knows of its `parameter`,
which `description` explains. Say which of the `candidates` means exactly the same, or that none
does.
- The same thing in other words, another spelling or another form of the word is a match.
- A broader, narrower or related thing is none. Neither is the same relation in the other direction,
  nor one between other kinds of things: "parent of" is not "child of", "founder" is not "founded".
- Different numbers, dates and units are different things.
When in doubt, answer null: a wrong value gives a wrong result, and with null another call is made.
""",
    foreign_fields=("argument", "description", "candidates"),
    task=MatcherTask,
    answer=MatcherAnswer,
)
