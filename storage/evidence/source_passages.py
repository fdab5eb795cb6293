"""Select the columns of a stored source, and read a passage from them."""

from typing import Any

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.storage.core.tables.evidence_tables import sources

PASSAGE_COLUMNS = (
    *(sources.c[name] for name in ("address", "title", "heading", "published", "text")),
    *(sources.c[name] for name in ("tool", "via")),
    sources.c.start_char.label("source_start"),
    sources.c.end_char.label("source_end"),
)


def passage_of_row(row: Any) -> SourcePassage:  # noqa: ANN401 - a row
    """Return the passage of a row that has these columns."""
    return SourcePassage(
        address=row.address,
        title=row.title,
        heading=row.heading,
        date=row.published,
        text=row.text,
        start=row.source_start,
        end=row.source_end,
        tool=row.tool,
        via=row.via,
    )
