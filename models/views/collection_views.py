"""Define how collections and documents are listed."""

from collections.abc import Mapping
from datetime import datetime

from holdfast.models.corpus.search_language import SearchLanguage
from holdfast.models.corpus.search_mode import SearchMode
from holdfast.models.frozen_model import Frozen


class VectorLine(Frozen):
    """The number of passages that have a vector of a model."""

    model: str
    dimension: int
    passages: int


class CollectionLine(Frozen):
    """A collection in the list."""

    name: str
    documents: int
    passages: int
    size_bytes: int
    language: SearchLanguage
    """How searches by words read the collection."""
    vectors: tuple[VectorLine, ...]
    search: SearchMode
    """How a search works that names no mode: by both once each passage has a vector."""
    without_vector: int
    """Passages that wait for their vector; 0 if no embedding model is configured."""
    first_added_at: datetime
    last_added_at: datetime


class DocumentLine(Frozen):
    """A document in the list of a collection."""

    address: str
    title: str
    passages: int
    size_bytes: int
    added_at: datetime
    metadata: Mapping[str, str | list[str]]
    origin: str
