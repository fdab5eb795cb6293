"""Recognise, write and disarm the `<JSON_PATH>` marks around references to other tasks' entities.

What a model reads may hold such marks as plain text, and the model may copy them into a new task;
only a mark that the model writes itself may refer to anything. So values are shown with disarmed
marks, which are as long as the original and can be restored.
"""

import re

from pydantic import JsonValue

from holdfast.models.text.json_leaves import map_texts

REFERENCE_MARK = re.compile(r"<JSON_PATH>\s*((?:(?!</?JSON_PATH>).)*?)\s*</JSON_PATH>", re.DOTALL)
"""One reference; its first group is the path."""
_NAME = "JSON_PATH"
_OPENING = f"<{_NAME}>"
_TAG = re.compile(rf"<(\s*/?\s*{_NAME}\s*)>")
_DISARMED_TAG = re.compile(rf"‹(\s*/?\s*{_NAME}\s*)›")


def has_reference(value: JsonValue) -> bool:
    """True if a text of the value, however deep, opens a reference."""
    return _OPENING in str(value)


def reference_to(path: str) -> str:
    """The mark that refers to what the path names."""
    return f"{_OPENING}{path}</{_NAME}>"


def disarm_references(value: JsonValue) -> JsonValue:
    """The value in which no text refers to anything, to be shown to a model that writes references.

    `restore_references` undoes this where the model's copy is used.
    """
    return map_texts(value, _disarm)


def restore_references(text: str) -> str:
    """The text with its disarmed marks restored; for text in which nothing is resolved again."""
    return _DISARMED_TAG.sub(r"<\1>", text) if _NAME in text else text


def _disarm(text: str) -> str:
    return _TAG.sub(r"‹\1›", text) if _NAME in text else text
