"""Define the search attributes of a job's workflow, by which Temporal's UI filters jobs."""

from enum import StrEnum


class SearchAttribute(StrEnum):
    """The name of a search attribute; a Temporal namespace registers it with its kind."""

    STATUS = "HoldfastStatus"
    PRESET = "HoldfastPreset"
    OWNER = "HoldfastOwner"
    REPLANS = "HoldfastReplans"
    TOKENS = "HoldfastTokens"

    @property
    def kind(self) -> str:
        """Temporal's name of the type of the values: `Keyword` or `Int`."""
        counts = (SearchAttribute.REPLANS, SearchAttribute.TOKENS)
        return "Int" if self in counts else "Keyword"
