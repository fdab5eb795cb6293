"""What is put into a collection and what comes out of it, and text as PostgreSQL can hold it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from models.tools import ReadPassage


class Hit(NamedTuple):
    """A passage that a search found; scores compare within one search only."""

    passage: ReadPassage
    score: float


@dataclass(frozen=True)
class NewDocument:
    """A document to be stored; each passage is (heading, start, end) within `text`."""

    address: str
    title: str
    text: str
    sha256: str
    size_bytes: int
    passages: Sequence[tuple[str, int, int]]
    metadata: Mapping[str, str | list[str]] = field(default_factory=dict)
    origin: str = ""
    """The folder that it was read from."""


class StoredDocument(NamedTuple):
    """A document of a collection, without its text."""

    address: str
    title: str
    sha256: str
    size_bytes: int
    added_at: datetime
    metadata: Mapping[str, str | list[str]]
    origin: str


class VectorCount(NamedTuple):
    """How many passages have a vector of a model."""

    model: str
    dimension: int
    passages: int


def storable(value: str) -> str:
    """Without what PostgreSQL refuses, and of the same length, so that offsets still hold."""
    return value.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
