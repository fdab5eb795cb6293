"""Entries of a job's log that several readers take together, encoded once for all of them."""

from dataclasses import dataclass
from functools import cached_property

from sse_starlette import ServerSentEvent

from holdfast.api.event_data import event_data
from holdfast.models.views.job_views import EventView

_CHUNK_BYTES = 16_384
"""A chunk ends once it has so many: a slow reader must take it in time, and it waits in memory."""


@dataclass(frozen=True)
class EntryBatch:
    """Consecutive entries of one log."""

    entries: tuple[EventView, ...]

    @cached_property
    def chunks(self) -> tuple[bytes, ...]:
        """The entries as Server-Sent Events, several small ones in one chunk.

        Each chunk costs a task, a timeout and a write for each reader, however small it is.
        """
        chunks: list[bytes] = []
        part = b""
        for entry in self.entries:
            part += _event(entry)
            if len(part) >= _CHUNK_BYTES:
                chunks.append(part)
                part = b""
        return (*chunks, part) if part else tuple(chunks)


def _event(entry: EventView) -> bytes:
    data = event_data(entry.model_dump_json())
    return ServerSentEvent(data, event=entry.kind, id=str(entry.seq), sep="\n").encode()
