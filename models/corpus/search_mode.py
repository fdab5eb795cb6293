"""Define the modes of a corpus search."""

from enum import StrEnum


class SearchMode(StrEnum):
    """What a search goes by."""

    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"
