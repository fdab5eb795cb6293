"""Read documents in processes of their own, whose parsers meet bytes from anywhere."""

import asyncio
from pathlib import PurePath

from holdfast.models.errors import BadInput
from holdfast.tools.documents.document_reader import (
    DocumentText,
    check_document_part,
    read_document,
)
from holdfast.tools.sandbox.process_pool import NoAnswer, ProcessPool

_PATIENCE_S = 300.0
"""Seconds; a PDF of thousands of pages takes a minute."""
_PLAIN_ENDINGS = frozenset({".md", ".txt", ".csv"})
"""These are decoded and split, with no parser of a library."""


class DocumentProcesses(ProcessPool):
    """The reading processes of one ingestion; a folder of plain texts starts none."""

    def __init__(self, patience_s: float = _PATIENCE_S) -> None:
        super().__init__("holdfast.tools.documents.document_process", patience_s=patience_s)

    async def read(self, name: str, data: bytes) -> DocumentText:
        """Return title, text and metadata of a file's bytes.

        Raises:
            BadInput: the file cannot be read; the message names the file and a remedy.
        """
        if PurePath(name).suffix.lower() in _PLAIN_ENDINGS:
            return await asyncio.to_thread(read_document, name, data)
        check_document_part(name)
        try:
            answer = await self.ask({"name": name}, data)
        except NoAnswer as fault:
            raise BadInput(f"{name!r} {fault}: split it, or save it in another format") from fault
        if "document" not in answer:
            raise BadInput(str(answer["wrong"]))
        return DocumentText(**answer["document"])
