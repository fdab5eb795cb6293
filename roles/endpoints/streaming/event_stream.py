"""Read server-sent events from bytes, with a bounded length of lines and events.

The reader of the `openai` library has no bounds of its own, and builds objects of everything that
an event holds before a caller sees it; so events are read here, and their few fields elsewhere.
Source: HTML Standard, section 9.2, without lone carriage returns as ends of lines, which no
endpoint sends.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from holdfast.roles.endpoints.bounded_replies import MAX_REPLY_BYTES
from holdfast.roles.endpoints.reply_errors import ReplyRefused

MAX_LINES = 1_000_000
"""Lines of the longest stream: a token takes two, and models write up to 128,000 tokens."""
_ERROR = "error"


@dataclass(frozen=True)
class ServerEvent:
    """One event: its data, and its name if it has one."""

    data: str
    name: str = ""

    @property
    def is_error(self) -> bool:
        """True if the server calls the event an error."""
        return self.name == _ERROR


@dataclass
class EventReader:
    """Take the bytes of a stream as they come, and give the events that are whole."""

    _rest: bytearray = field(default_factory=bytearray)
    """The line that has not ended."""
    _lines: list[str] = field(default_factory=list)
    """The data of the event that has not ended."""
    _size: int = 0
    _count: int = 0
    """Of the lines so far."""
    _name: str = ""

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Yield the events that end in these bytes.

        Raises:
            ReplyRefused: a line or an event is longer than a whole reply may be, or there are too
                many lines.
        """
        searched = len(self._rest)
        self._rest += chunk
        begin = 0
        while (end := self._rest.find(b"\n", max(begin, searched))) >= 0:
            line = self._rest[begin:end].removesuffix(b"\r")
            begin = end + 1
            self._count += 1
            if self._count > MAX_LINES:
                raise ReplyRefused(f"its reply has more than {MAX_LINES:,} lines")
            if event := self._line(line.decode(errors="replace")):
                yield event
        del self._rest[:begin]
        if len(self._rest) > MAX_REPLY_BYTES:
            raise _too_long()

    def end(self) -> Iterator[ServerEvent]:
        """Yield the last event of a stream that ends without an empty line."""
        event = self._line(self._rest.decode(errors="replace"))
        self._rest.clear()
        if event := event or self._event():
            yield event

    def _line(self, line: str) -> ServerEvent | None:
        if not line:
            return self._event()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == _ERROR:
            self._name, name = _ERROR, "data"  # llama.cpp sends errors in a field of this name
        if name == "event":
            self._name = value
        elif name == "data":
            self._size += len(value)
            if self._size > MAX_REPLY_BYTES:
                raise _too_long()
            self._lines.append(value)
        return None

    def _event(self) -> ServerEvent | None:
        lines, name = self._lines, self._name
        self._lines, self._name, self._size = [], "", 0
        return ServerEvent("\n".join(lines), name) if lines else None


def _too_long() -> ReplyRefused:
    return ReplyRefused(f"an event of its reply has more than {MAX_REPLY_BYTES:,} bytes")
