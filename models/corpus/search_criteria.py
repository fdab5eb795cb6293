"""Define what narrows a corpus search: date range, metadata filter and query vector."""

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import ConfigDict, Field, StringConstraints

from holdfast.models.frozen_model import Frozen

Day = Annotated[str, StringConstraints(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")]
"""A day, month or year as ISO 8601 writes it."""


class DateRange(Frozen):
    """Days from one to another, both within; a month or a year stands for all its days."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True
    )

    since: Day | None = Field(default=None, alias="from", description="such as 2020 or 2020-06-30")
    until: Day | None = Field(default=None, alias="to", description="the last day, month or year")


FilterValue: TypeAlias = Annotated[str, StringConstraints(max_length=500)]
MetadataFilter: TypeAlias = Mapping[
    Annotated[str, StringConstraints(min_length=1, max_length=60)],
    FilterValue | Annotated[tuple[FilterValue, ...], Field(max_length=50)] | DateRange,
]
"""What a document's metadata must be: a value, one of some values, or within a range of dates."""


class QueryVector(Frozen):
    """The embedding of a query."""

    model: str
    values: tuple[float, ...]
