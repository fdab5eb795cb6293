"""Read `holdfast.toml` or one of its tables, and report errors of the file."""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from holdfast.models.errors import BadConfiguration
from holdfast.models.frozen_model import Frozen
from holdfast.planning.text.nearest_values import nearest_names

ShapeT = TypeVar("ShapeT", bound=Frozen)

_TABLES = (
    "agents",
    "calibration",
    "corpus",
    "embeddings",
    "http",
    "models",
    "oidc",
    "presets",
    "prices",
    "private_jobs",
    "python",
    "rerank",
    "retention",
    "roles",
    "servers",
    "tables",
    "web",
    "webhooks",
    "wikipedia",
)


def check_toml_tables(path: Path) -> None:
    """Check that Holdfast reads every table of the file; a misspelt table would do nothing.

    Raises:
        BadConfiguration: a table is unknown; names it and the most similar known table.
    """
    if odd := [name for name in read_toml(path) if name not in _TABLES]:
        near = nearest_names(odd[0].lower(), _TABLES, 1, min_similarity=0.7)
        meant = f"; write [{near[0]}]" if near else ""
        names = ", ".join(_TABLES)
        raise BadConfiguration(f"{path}: unknown table {odd[0]!r}{meant}; known here: {names}")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the file's content.

    Raises:
        BadConfiguration: the file is not valid TOML or not text.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise BadConfiguration(f"{path} is not valid TOML: {error}; correct that line") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{path} cannot be read as UTF-8 text: {error}") from error


def read_toml_table(
    path: Path | None, name: str, shape: type[ShapeT], examples: Mapping[str, str]
) -> ShapeT | None:
    """Return the validated table `[name]` of the file; None if file or table is missing.

    `examples` holds a correct line for each key, for error messages.

    Raises:
        BadConfiguration: a value is wrong; names file, table and key, and a correct line.
    """
    if path is None or not path.exists():
        return None
    entry = read_toml(path).get(name)
    if entry is None:
        return None
    where = f"{path}: {name}"
    if not isinstance(entry, dict):
        raise BadConfiguration(f"{where} must be a table; write [{name}]")
    return validated(shape, entry, lambda detail: _complaint(where, shape, detail, examples))


def validated(
    shape: type[ShapeT], entry: Mapping[str, Any], complain: Callable[[ErrorDetails], str]
) -> ShapeT:
    """Return the entry of a file as this shape; `complain` words the first fault.

    Raises:
        BadConfiguration: the entry does not fit.
    """
    try:
        return shape.model_validate(entry)
    except ValidationError as error:
        # Without the input, which may be a key that somebody wrote into the file.
        details = error.errors(include_url=False, include_input=False, include_context=False)
        raise BadConfiguration(complain(details[0])) from None


def _complaint(
    where: str, shape: type[Frozen], detail: ErrorDetails, examples: Mapping[str, str]
) -> str:
    key = str(detail["loc"][0]) if detail["loc"] else ""
    if detail["type"] == "extra_forbidden":
        names = ", ".join(sorted(shape.model_fields))
        return f"{where}.{key} is not a known key; known here: {names}"
    hint = f"; write for example {examples[key]}" if key in examples else ""
    return f"{where}.{key}: {detail['msg']}{hint}"
