"""Show a reference to another task's value as a person writes it, and read it again.

A plan has `<JSON_PATH>T1.name</JSON_PATH>`; the form of a plan has `{{T1.name}}`. Only what begins
with a task's id is read so: other languages of templates write their own names in braces.
"""

import re
from collections.abc import Container

from holdfast.models.errors import Unresolved
from holdfast.models.text.reference_marks import reference_to, replace_references
from holdfast.planning.plans.entity_references import parse_reference

_BRACED = re.compile(r"\{\{([^{}]*+)\}\}")
_HEAD = re.compile(r"(?:\$\.?)?(?:\[['\"])?(\w+)")
_SHOWN_CHARS = 60
_USUAL_ID = re.compile(r"T\d+[a-z]*")
"""The id of a task as the form and planners give it."""


def with_braces(text: str, ids: Container[str]) -> str:
    """The text with its references in braces; one that would not be read again stays as it is."""
    return replace_references(
        text,
        lambda path: (
            f"{{{{{path}}}}}"
            if _BRACED.fullmatch(f"{{{{{path}}}}}") and _is_reference(path, ids)
            else reference_to(path)
        ),
    )


def with_marks(text: str, ids: Container[str]) -> str:
    """The text with the references that are in braces as a plan has them."""
    return _BRACED.sub(
        lambda found: (
            reference_to(found[1].strip()) if _is_reference(found[1].strip(), ids) else found[0]
        ),
        text,
    )


def misread_braces(text: str, ids: Container[str]) -> str:
    """What is wrong with the first braces that name a task and are no reference; or nothing."""
    for found in _BRACED.finditer(text):
        task_id = _head(found[1].strip())
        shown = f"{found[0][:_SHOWN_CHARS]!r}"
        if task_id in ids:
            return (
                f"{shown} names no value of a task; write {{{{{task_id}.name}}}}, "
                f"{{{{{task_id}.names[0]}}}} or {{{{{task_id}.names[*]}}}}"
            )
        if _USUAL_ID.fullmatch(task_id):
            return f"{shown} names a task that the plan does not have"
    return ""


def _head(path: str) -> str:
    head = _HEAD.match(path)
    return head[1] if head else ""


def _is_reference(path: str, ids: Container[str]) -> bool:
    if _head(path) not in ids:
        return False
    try:
        return parse_reference(path).entity is not None
    except Unresolved:
        return False
