"""What a document says of itself beside its text, in the one shape that searches filter by."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import NamedTuple, TypeAlias

import yaml

from planning.strict_yaml import StrictLoader

Metadata: TypeAlias = dict[str, str | list[str]]
"""A key in lower case has a text or a list of texts; `date` is ISO 8601, at least its year."""

_MAX_KEYS = 40
_MAX_KEY = 60
_MAX_VALUE = 500
_MAX_VALUES = 50
_MAX_FRONT = 8_000  # characters; the loader takes 0.4 s at worst for that many
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_DAY = re.compile(r"(\d{4})(-\d{2})?(-\d{2})?")


class Read(NamedTuple):
    """What a reader found in a file; the title is empty where the file names none."""

    title: str
    text: str
    metadata: Mapping[str, object] = {}


def clean_metadata(raw: Mapping[str, object]) -> Metadata:
    """What of it is text, or a list of texts, short enough to filter by; the rest is left out."""
    found: Metadata = {}
    for key, value in raw.items():
        name = " ".join(str(key).split()).lower()
        kept = _kept(name, value)
        if kept and 0 < len(name) <= _MAX_KEY and len(found) < _MAX_KEYS:
            found[name] = kept
    return found


def front_matter(text: str) -> Read:
    """A Markdown text with the YAML in front of it as title and metadata.

    What only looks like front matter stays text.
    """
    found = _FRONT.match(text[: _MAX_FRONT + 100])
    if found is None:
        return Read("", text)
    try:
        said = yaml.load(found[1], StrictLoader)  # noqa: S506 - a SafeLoader, narrowed
    except (yaml.YAMLError, ValueError, RecursionError):
        return Read("", text)
    if not isinstance(said, dict):
        return Read("", text)
    title = said.pop("title", "")
    return Read(title if isinstance(title, str) else "", text[found.end() :].lstrip("\n"), said)


def _kept(name: str, value: object) -> str | list[str]:
    if isinstance(value, list | tuple):
        texts = [_text(each) for each in value[:_MAX_VALUES]]
        return [text for text in texts if text]
    text = _text(value)
    return _day(text) if name in ("date", "modified") else text


def _text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.date().isoformat()
        case date():
            return value.isoformat()
        case str() | int() | float():
            plain = str(value).replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
            return " ".join(plain.split())[:_MAX_VALUE]
    return ""


def _day(text: str) -> str:
    """The day, month or year in front of it, else nothing: ranges of dates compare as text."""
    found = _DAY.match(text)
    return found[0] if found else ""
