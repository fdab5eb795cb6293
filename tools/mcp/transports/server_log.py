"""Write what a server program prints to stderr to a log file: masked, bounded, for its owner."""

import asyncio
import codecs
import os
from io import FileIO
from pathlib import Path

from holdfast.models.text.secret_mask import SecretMask

MAX_LOG_BYTES = 1_000_000
"""Bytes of a log file; at its next start a server with a full log begins a new one."""
_LEFT_OUT = b"\n[The log is full. What the server prints until its next start is left out.]\n"
_CHUNK_BYTES = 2**16
_LONGEST_TAIL = 8_192
"""Characters of an unfinished line that wait for the rest of a secret."""


def server_log_folder(home: Path) -> Path:
    """The folder of the servers' log files in the home of an installation."""
    return home / "logs" / "servers"


class ServerLog:
    """The log file `NAME.log` of a server; `NAME.log.1` is the full one before it."""

    def __init__(self, path: Path, mask: SecretMask) -> None:
        self._path = path
        self._mask = mask
        self._left_bytes = MAX_LOG_BYTES

    async def keep(self, errors: asyncio.StreamReader) -> None:
        """Write the stream to the file until it ends; read on when the file is full.

        Raises:
            OSError: the file cannot be written.
        """
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        tail = ""
        with self._opened() as file:
            while chunk := await errors.read(_CHUNK_BYTES):
                # Masking keeps the length, so the text may be cut anywhere after it.
                text = self._mask.text(tail + decoder.decode(chunk))
                end = max(text.rfind("\n") + 1, len(text) - _LONGEST_TAIL)
                tail = text[end:]
                file.write(self._fitting(text[:end]))
            file.write(self._fitting(tail))

    def _opened(self) -> FileIO:
        """Open the file for its owner alone, whatever the umask is; a full file makes room."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._path.exists() and self._path.stat().st_size >= MAX_LOG_BYTES:
            self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        file = FileIO(os.open(self._path, flags, 0o600), "wb")
        os.fchmod(file.fileno(), 0o600)
        self._left_bytes = MAX_LOG_BYTES - os.fstat(file.fileno()).st_size
        return file

    def _fitting(self, text: str) -> bytes:
        """Return the text as far as there is room for it, with a note where it is cut."""
        if self._left_bytes <= 0:
            return b""
        content = text.encode("utf-8", "replace")
        if len(content) >= self._left_bytes:
            content = content[: self._left_bytes] + _LEFT_OUT
        self._left_bytes -= len(content)
        return content
