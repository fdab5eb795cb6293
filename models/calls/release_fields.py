"""Mark the fields of a role's task that a release brings: tool lists, instructions, worded notes.

A field that is not marked is content: it comes from the job. Two requests with the same content
ask for the same, whatever a release changed in the marked fields, so a recorded answer to one
answers the other (`roles.dialogue.recorded_content`).
"""

from typing import Annotated, TypeAlias, TypeVar

from pydantic.fields import FieldInfo

T = TypeVar("T")


class _Mark:
    """The mark in the type of a field."""


_MARK = _Mark()
FromRelease: TypeAlias = Annotated[T, _MARK]
"""The type of a field that is no content, as `tools: FromRelease[tuple[ToolSignature, ...]]`."""


def is_from_release(field: FieldInfo) -> bool:
    """True if the type of the field is marked."""
    return _MARK in field.metadata
