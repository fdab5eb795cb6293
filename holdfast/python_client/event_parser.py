"""Read the lines of an event stream."""

import json
from dataclasses import dataclass, field

from holdfast.python_client.answers import Event

_END = "end"


@dataclass(frozen=True)
class StreamEnd:
    """The job has ended, and every entry of its log was sent."""


@dataclass
class EventParser:
    """Collects lines until an event is whole."""

    _fields: dict[str, str] = field(default_factory=dict)

    def feed(self, line: str) -> Event | StreamEnd | None:
        """Take the next line; return the event that it completes."""
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
