"""Read the rows of a table from a bundle, with the texts and bytes that have their own files."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

from holdfast.bundles.bundle_reader import Bundle
from holdfast.models.calls.tool_figures import FIGURE_EXTENSIONS
from holdfast.models.errors import BadInput

_HASH = re.compile(r"[0-9a-f]{64}")


def bundle_rows(bundle: Bundle, table_name: str) -> Iterator[dict[str, Any]]:
    """Return the rows of the table; none if the bundle has no file of it.

    Raises:
        BadInput: a line is no JSON object, or its text or bytes are not in the bundle.
    """
    path = f"data/{table_name}.jsonl"
    for at, line in enumerate(bundle.lines(path), start=1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"line {at} of {path} is no JSON") from error
        if not isinstance(row, dict):
            raise BadInput(f"line {at} of {path} is no JSON object")
        if table_name == "sources" and "text" not in row:
            row["text"] = _text(bundle, f"sources/{_hash(row)}.txt")
        if table_name == "figures" and "data" not in row:
            ending = FIGURE_EXTENSIONS.get(str(row.get("media_type")), "")
            data = bundle.read(f"figures/{_hash(row)}{ending}")
            row["data"] = base64.b64encode(data).decode()
        yield row


def _hash(row: dict[str, Any]) -> str:
    found = str(row.get("sha256"))
    if not _HASH.fullmatch(found):
        raise BadInput(f"row {row.get('id')!r} names no file: {found[:80]!r} is no hash")
    return found


def _text(bundle: Bundle, path: str) -> str:
    try:
        return bundle.read(path).decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is no text in UTF-8") from error
