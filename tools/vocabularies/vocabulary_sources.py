"""Define the sources of allowed parameter values in `holdfast.toml`, and read value files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field

from holdfast.models.errors import BadConfiguration
from holdfast.models.frozen_model import Frozen

VocabularyValue = Annotated[str, Field(min_length=1, pattern=r"^[^\x00]+$")]


class FromFile(Frozen):
    """A file with one value per line."""

    file: Path


class FromTool(Frozen):
    """A tool of the same server that lists the values; it is called without arguments."""

    tool: VocabularyValue


VocabularySource: TypeAlias = (
    Annotated[tuple[VocabularyValue, ...], Field(min_length=1)] | FromTool | FromFile
)


def read_vocabulary_files(
    where: str, folder: Path, sources: Mapping[str, VocabularySource]
) -> dict[str, VocabularySource]:
    """Return the sources with all files read; relative paths start at `folder`.

    Raises:
        BadConfiguration: a file is missing, empty or not text.
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
