"""Define the search attributes of a job's workflow, by which Temporal's UI filters jobs."""

from enum import StrEnum


class SearchAttribute(StrEnum):
    """The name of a search attribute; a Temporal namespace registers it with its kind."""

    STATUS = "HoldfastStatus"
    PRESET = "HoldfastPreset"
    OWNER = "HoldfastOwner"
    QUESTION = "HoldfastQuestion"
    REPLANS = "HoldfastReplans"
    TOKENS = "HoldfastTokens"

    @property
    def kind(self) -> str:
        """Temporal's name of the type of the values: `Keyword`, `Text` or `Int`."""
        return _KINDS.get(self, "Keyword")


_KINDS = {
    # Words of a Text can be searched for; a Keyword is compared as a whole.
    SearchAttribute.QUESTION: "Text",
    SearchAttribute.REPLANS: "Int",
    SearchAttribute.TOKENS: "Int",
}
