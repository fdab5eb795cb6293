"""Recognise, write and disarm the `<JSON_PATH>` marks around references to other tasks' entities.

What a model reads may hold such marks as plain text, and the model may copy them into a new task;
only a mark that the model writes itself may refer to anything. So values are shown with disarmed
marks, which are as long as the original and can be restored.
"""

import json
import re
from collections.abc import Callable, Iterator

from pydantic import JsonValue

from holdfast.models.text.json_leaves import map_texts, texts_in

# Possessive quantifiers (`++`, `*+`) never look back, so foreign text is read once.
# The group has none: Python 3.11.2 (Debian 12) finds nothing with a possessive group. It reads once
# all the same, as each of its turns begins with a `<`, and stops at the next mark.
_REFERENCE = re.compile(r"<JSON_PATH>([^<]*+(?:<(?!/?JSON_PATH>)[^<]*+)*)</JSON_PATH>")
_STRING_OR_REFERENCE = re.compile(rf'"(?:[^"\\]|\\.)*"?|{_REFERENCE.pattern}', re.DOTALL)
"""A JSON string, whole or cut off, or a reference that stands outside of strings."""
_NAME = "JSON_PATH"
_OPENING = f"<{_NAME}>"
_TAG = re.compile(rf"<(\s*+(?:/\s*+)?{_NAME}\s*+)>")
_DISARMED_TAG = re.compile(rf"‹(\s*+(?:/\s*+)?{_NAME}\s*+)›")

_DOTTED = r"([A-Za-z]\w*(?:\.\w+)+)"
_FOREIGN_MARK = re.compile(
    rf"\{{\{{\s*{_DOTTED}\s*\}}\}}|\$\{{\s*{_DOTTED}\s*\}}|\$\.?{_DOTTED}|<\s*{_DOTTED}\s*/?>"
)
"""`{{T1.state}}`, `${T1.state}`, `$T1.state` and `<T1.state>`."""
_SIGNS_OF_FOREIGN_MARKS = "{$<"


def has_reference(value: JsonValue) -> bool:
    """True if a text of the value, however deep, opens a reference."""
    return any(_OPENING in text for text in texts_in(value))


def referenced_paths(text: str) -> list[str]:
    """The path of every reference in the text, in order."""
    return [path.strip() for path in _REFERENCE.findall(text)]


def whole_reference(text: str) -> str | None:
    """The path if the text is one reference and nothing else, or None."""
    mark = _REFERENCE.fullmatch(text.strip())
    return mark.group(1).strip() if mark else None


def replace_references(text: str, replacement: Callable[[str], str]) -> str:
    """The text with each reference replaced by `replacement(path)`."""
    return _REFERENCE.sub(lambda mark: replacement(mark.group(1).strip()), text)


def quote_bare_references(text: str) -> str:
    """The JSON text with quotation marks around the references outside of its strings."""
    return _STRING_OR_REFERENCE.sub(
        lambda mark: mark[0] if mark[1] is None else json.dumps(mark[0], ensure_ascii=False), text
    )


def foreign_marks(value: JsonValue) -> Iterator[tuple[str, str]]:
    """Every mark of another template language that holds a dotted path, and the path.

    Marks inside a reference are the reference's own signs.
    """
    for text in texts_in(value):
        # Most texts hold none of these signs, and looking for a sign is much cheaper.
        if not any(sign in text for sign in _SIGNS_OF_FOREIGN_MARKS):
            continue
        for mark in _FOREIGN_MARK.finditer(replace_references(text, lambda _: "")):
            yield mark[0], next(part for part in mark.groups() if part)


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
