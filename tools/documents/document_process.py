"""Run the child process that reads documents of foreign formats with bounded memory."""

from dataclasses import asdict
from typing import Any

from holdfast.models.errors import BadInput
from holdfast.tools.documents.document_reader import read_document
from holdfast.tools.sandbox.answering_loop import answer_requests


def main() -> None:
    """Read documents until standard input ends."""
    answer_requests(_answer)


def _answer(request: dict[str, Any], body: bytes) -> dict[str, Any]:
    name = request["name"]
    try:
        return {"document": asdict(read_document(name, body))}
    except BadInput as error:
        return {"wrong": str(error)}
    except (MemoryError, RecursionError):
        return {"wrong": f"{name!r} takes too much memory to read: split it"}
