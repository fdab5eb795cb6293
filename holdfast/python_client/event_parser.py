"""Read the events of a stream from its bytes."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from holdfast.python_client.answers import Event

_END = "end"
# Only these end a line of an event stream: `str.splitlines` and HTTP clients also split at
# characters such as U+2028, which a text of the log may have. The line feed that belongs to a
# carriage return at the end of the bytes has still to come.
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


@dataclass(frozen=True)
class StreamEnd:
    """The job has ended, and every entry of its log was sent."""


@dataclass
class EventParser:
    """Collects bytes until an event is whole."""

    _rest: bytes = b""
    """The line that has not ended."""
    _fields: dict[str, str] = field(default_factory=dict)

    def feed(self, chunk: bytes) -> Iterator[Event | StreamEnd]:
        """Take the next bytes; yield the events that they complete."""
        *lines, self._rest = _LINE_END.split(self._rest + chunk)
        for line in lines:
            item = self._line(line.decode())
            if item is not None:
                yield item

    def _line(self, line: str) -> Event | StreamEnd | None:
        if line.startswith(":"):
            return None
        if line:
            name, _, value = line.partition(":")
            self._fields[name] = value.removeprefix(" ")
            return None
        fields, self._fields = self._fields, {}
        if not fields:
            return None
        if fields.get("event") == _END:
            return StreamEnd()
        return Event.model_validate(json.loads(fields["data"]))
