"""Define the numbers in paths that name a row of PostgreSQL."""

from typing import Annotated

from fastapi import Path

RowNumber = Annotated[int, Path(ge=1, le=2**63 - 1)]
"""The number of a mark, a source or a question."""
