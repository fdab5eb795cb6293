"""Define the documents, search hits and counts of the corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from holdfast.models.calls.tool_signatures import SourcePassage


class PassageHit(NamedTuple):
    """A passage found by a search; scores are comparable within one search only."""

    passage: SourcePassage
    score: float


@dataclass(frozen=True)
class NewDocument:
    """A document to store; each passage is (heading, start, end) within `text`."""

    address: str
    title: str
    text: str
    sha256: str
    size_bytes: int
    passages: Sequence[tuple[str, int, int]]
    metadata: Mapping[str, str | list[str]] = field(default_factory=dict)
    origin: str = ""
    """The folder of the document."""


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
