"""Reads `holdfast.toml`, whole or one table of it, or says what is wrong with it."""

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from models.base import Frozen
from models.errors import BadConfiguration

ShapeT = TypeVar("ShapeT", bound=Frozen)

_TABLES = (
    "agents", "embeddings", "prices", "python", "servers", "tables", "web", "wikipedia",
)  # fmt: skip


def check_tables(path: Path) -> None:
    """Every table of the file is one that is read: a misspelt one would change nothing unsaid.

    Raises:
        BadConfiguration: names those that are not, and the nearest that is.
    """
    if odd := [each for each in read_toml(path) if each not in _TABLES]:
        near = difflib.get_close_matches(odd[0].lower(), _TABLES, n=1)
        meant = f"; write [{near[0]}]" if near else ""
        known = ", ".join(_TABLES)
        raise BadConfiguration(f"{path}: unknown table {odd[0]!r}{meant}; known here: {known}")


def read_toml(path: Path) -> dict[str, Any]:
    """The file's content.

    Raises:
        BadConfiguration: it is not valid TOML, or cannot be read as text.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise BadConfiguration(f"{path} is not valid TOML: {error}; correct that line") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{path} cannot be read as UTF-8 text: {error}") from error


def read_table(
    path: Path | None, name: str, shape: type[ShapeT], examples: Mapping[str, str]
) -> ShapeT | None:
    """The table `[name]` of the file in its shape; none where there is no file, or none in it.

    `examples` holds for each key a line that is right, for the message about one that is not.

    Raises:
        BadConfiguration: names file, table and key, and says what to write.
    """
    if path is None or not path.exists():
        return None
    entry = read_toml(path).get(name)
    if entry is None:
        return None
    where = f"{path}: {name}"
    if not isinstance(entry, dict):
        raise BadConfiguration(f"{where} must be a table; write [{name}]")
    try:
        return shape.model_validate(entry)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False, include_context=False)[0]
    key = str(detail["loc"][0]) if detail["loc"] else ""
    if detail["type"] == "extra_forbidden":
        known = ", ".join(sorted(shape.model_fields))
        raise BadConfiguration(f"{where}.{key} is not a known key; known here: {known}")
    hint = f"; write for example {examples[key]}" if key in examples else ""
    raise BadConfiguration(f"{where}.{key}: {detail['msg']}{hint}")
