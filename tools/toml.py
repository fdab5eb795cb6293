"""Reads `holdfast.toml`, or says what is wrong with it."""

import tomllib
from pathlib import Path
from typing import Any

from models.errors import BadConfiguration


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
