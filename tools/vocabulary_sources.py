"""Where the values of a tool's parameter are written down, as `holdfast.toml` says it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field

from models.base import Frozen
from models.errors import BadConfiguration

Value = Annotated[str, Field(min_length=1, pattern=r"^[^\x00]+$")]


class FromFile(Frozen):
    """A file with a value on each line."""

    file: Path


class FromTool(Frozen):
    """A tool of the same server that lists the values, called without arguments."""

    tool: Value


Source: TypeAlias = Annotated[tuple[Value, ...], Field(min_length=1)] | FromTool | FromFile


def without_files(where: str, folder: Path, sources: Mapping[str, Source]) -> dict[str, Source]:
    """The sources with each file read; a relative path counts from `folder`.

    Raises:
        BadConfiguration: a file is not there, is not text, or is empty.
    """
    return {
        name: _lines(f"{where}.vocabulary.{name}.file", folder / source.file)
        if isinstance(source, FromFile)
        else source
        for name, source in sources.items()
    }


def _lines(where: str, path: Path) -> tuple[str, ...]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{where}: {str(path)!r} cannot be read as text: {error}") from error
    values = tuple(line.strip() for line in lines if line.strip())
    if not values:
        raise BadConfiguration(f"{where}: {str(path)!r} is empty; write a value on each line")
    return values
