"""Entries of a job's log that several readers take together, encoded once for all of them."""

from dataclasses import dataclass
from functools import cached_property

from sse_starlette import ServerSentEvent

from holdfast.models.views.job_views import EventView

_CHUNK_BYTES = 16_384
"""What a slow reader must accept in the time that a reader has, and what waits for it in memory."""


@dataclass(frozen=True)
class EntryBatch:
    """Consecutive entries of one log."""

    entries: tuple[EventView, ...]

    @cached_property
    def chunks(self) -> tuple[bytes, ...]:
        """The entries as Server-Sent Events, several small ones in one chunk.

        A chunk costs a reader the same whatever it has: a task, a timeout, and a write.
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
    data = entry.model_dump_json()
    return ServerSentEvent(data, event=entry.kind, id=str(entry.seq), sep="\n").encode()
