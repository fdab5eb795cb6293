"""Read the rows of a table from a bundle, with the texts and bytes that have their own files."""

import base64
import hashlib
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
        if table_name == "figures":
            row["data"] = base64.b64encode(_figure(bundle, row)).decode()
        yield row


def _hash(row: dict[str, Any]) -> str:
    found = str(row.get("sha256"))
    if not _HASH.fullmatch(found):
        raise BadInput(f"row {row.get('id')!r} names no file: {found[:80]!r} is no hash")
    return found


def _figure(bundle: Bundle, row: dict[str, Any]) -> bytes:
    """Return the bytes of a figure, which have the hash and an ending that exports name files by.

    Raises:
        BadInput: the bytes stand in the row, are not in the bundle, or have another hash.
    """
    number, ending = row.get("id"), FIGURE_EXTENSIONS.get(str(row.get("media_type")))
    if ending is None:
        raise BadInput(f"figure {number!r} is of no type that a report shows")
    if "data" in row:
        raise BadInput(f"the bytes of figure {number!r} stand in its row and not in a file")
    expected = _hash(row)
    data = bundle.read(f"figures/{expected}{ending}")
    if hashlib.sha256(data).hexdigest() != expected:
        raise BadInput(f"the bytes of figure {number!r} have not the hash that names them")
    return data


def _text(bundle: Bundle, path: str) -> str:
    try:
        return bundle.read(path).decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is no text in UTF-8") from error
