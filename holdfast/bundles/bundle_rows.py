"""Read the rows of a table from a bundle, with the texts and bytes that have their own files."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from holdfast.bundles.bundle_reader import Bundle
from holdfast.models.calls.tool_figures import FIGURE_EXTENSIONS
from holdfast.models.errors import BadInput

MAX_REPEATED_BYTES = 100_000_000
"""Bytes of texts and figures that rows name again: a job may read a text at several addresses."""
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass
class _NamedFiles:
    """The files that the rows of a table name; a small bundle must not become large by naming."""

    bundle: Bundle
    named: set[str] = field(default_factory=set)
    repeated: int = 0
    """Bytes."""

    def read(self, path: str) -> bytes:
        content = self.bundle.read(path)
        if path in self.named:
            self.repeated += len(content)
        if self.repeated > MAX_REPEATED_BYTES:
            raise BadInput(
                f"rows of the bundle name {path!r} and others again and again: more than "
                f"{MAX_REPEATED_BYTES:,} bytes are not read twice"
            )
        self.named.add(path)
        return content


def bundle_rows(bundle: Bundle, table_name: str) -> Iterator[dict[str, Any]]:
    """Return the rows of the table; none if the bundle has no file of it.

    Raises:
        BadInput: a line is no JSON object, its text or bytes are not in the bundle, or rows name
            the same large files again and again.
    """
    path = f"data/{table_name}.jsonl"
    files = _NamedFiles(bundle)
    for at, line in enumerate(bundle.lines(path), start=1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"line {at} of {path} is no JSON") from error
        if not isinstance(row, dict):
            raise BadInput(f"line {at} of {path} is no JSON object")
        if table_name == "sources" and "text" not in row:
            row["text"] = _text(files, f"sources/{_hash(row)}.txt")
        if table_name == "figures":
            row["data"] = base64.b64encode(_figure(files, row)).decode()
        yield row


def _hash(row: dict[str, Any]) -> str:
    found = str(row.get("sha256"))
    if not _HASH.fullmatch(found):
        raise BadInput(f"row {row.get('id')!r} names no file: {found[:80]!r} is no hash")
    return found


def _figure(files: _NamedFiles, row: dict[str, Any]) -> bytes:
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
    data = files.read(f"figures/{expected}{ending}")
    if hashlib.sha256(data).hexdigest() != expected:
        raise BadInput(f"the bytes of figure {number!r} have not the hash that names them")
    return data


def _text(files: _NamedFiles, path: str) -> str:
    try:
        return files.read(path).decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is no text in UTF-8") from error
