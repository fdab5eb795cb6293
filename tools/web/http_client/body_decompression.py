"""Decompress an HTTP body piece by piece up to a size limit."""

import zlib

from holdfast.models.errors import ToolFailed

ACCEPTED_ENCODINGS = "gzip, deflate"
"""The value of the header Accept-Encoding."""
_STEP = 64 * 1024
_GZIP = 16 + zlib.MAX_WBITS
_ZLIB = zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS


class BodyDecompressor:
    """Decompresses the body of one answer as it arrives; `limit` bounds its unpacked bytes.

    With `keeps_start` a longer body is cut at the limit; else it is an error.
    """

    def __init__(self, host: str, coding: str, limit: int, *, keeps_start: bool = False) -> None:
        self._host = host
        self._coding = _known(host, coding)
        self._limit = limit
        self._keeps_start = keeps_start
        self._out = bytearray()
        self._codec: zlib._Decompress | None = None

    @property
    def is_full(self) -> bool:
        """Return True if the limit is reached, so that reading can stop."""
        return self._keeps_start and len(self._out) >= self._limit

    def add(self, piece: bytes) -> None:
        """Decompress the next piece.

        Raises:
            ToolFailed: the piece is damaged, or the body exceeds the limit.
        """
        if not self._coding:
            self._keep(piece)
            return
        while piece and not self.is_full:
            piece = self._unpacked(piece)

    def whole(self) -> bytes:
        """Return the unpacked body; of a truncated body the part that arrived."""
        return bytes(self._out)

    def _unpacked(self, packed: bytes) -> bytes:
        """Decompress at most one step of the piece and return the rest."""
        if self._codec is None:
            self._codec = zlib.decompressobj(_window(self._coding, packed[0]))
        if self._codec.eof:
            return b""  # bytes after the end of the stream are not part of the body
        try:
            self._keep(self._codec.decompress(packed, _STEP))
        except zlib.error as error:
            raise ToolFailed(f"{self._host} sent a body that cannot be unpacked") from error
        return self._codec.unconsumed_tail

    def _keep(self, out: bytes) -> None:
        self._out += out
        if len(self._out) <= self._limit:
            return
        if not self._keeps_start:
            size = f"{self._limit / 2**20:g} MB"
            raise ToolFailed(f"{self._host} sent more than {size}: look for a shorter page")
        del self._out[self._limit :]


def _known(host: str, coding: str) -> str:
    coding = coding.strip().lower()
    if coding in {"", "identity"}:
        return ""
    if coding in {"gzip", "x-gzip", "deflate"}:
        return coding
    raise ToolFailed(f"{host} packed its answer as {coding[:40]!r}, which it was not asked for")


def _window(coding: str, first: int) -> int:
    if coding != "deflate":
        return _GZIP
    # Many servers send deflate without the header that the standard requires.
    return _ZLIB if first & 0x0F == zlib.DEFLATED else _RAW
