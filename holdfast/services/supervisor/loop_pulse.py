"""The sign of life of a worker's event loop, in memory that the worker and its supervisor share.

The loop counts a beat up twice a second, and each step of an asyncio task writes down for which
activity it runs. A blocked loop may hold the interpreter's lock, in which case no thread of the
worker can say what it does; the memory still can.
"""

import asyncio
import faulthandler
import mmap
import os
import signal
import struct
import sys
import tempfile
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from pydantic import ValidationError

from holdfast.activities.runtime.interceptors.stall_interceptor import current_activity
from holdfast.models.jobs.activity_key import ActivityKey

STACK_SIGNAL = signal.SIGUSR2
"""The signal at which a worker writes its stack to the log, even if its loop is blocked."""

_INTERVAL_S = 0.5
_SIZE = 1024
_BEATS = struct.Struct("<Q")
_LENGTH = struct.Struct("<H")
_TEXT_AT = _BEATS.size + _LENGTH.size


class LoopPulse:
    """Shared memory: the number of beats, and the activity that the loop ran last."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, _SIZE)
        self._last: ActivityKey | None = None

    @classmethod
    def create(cls) -> "LoopPulse":
        """Return new memory, whose descriptor the child processes inherit."""
        if sys.platform == "linux":
            descriptor = os.memfd_create("holdfast-pulse")
        else:
            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        os.set_inheritable(descriptor, True)
        os.write(descriptor, bytes(_SIZE))
        return cls(descriptor)

    @property
    def beats(self) -> int:
        """Return the number of beats; 0 if the loop does not run or has ended."""
        return int(_BEATS.unpack_from(self._memory)[0])

    @property
    def last_activity(self) -> ActivityKey | None:
        """Return the activity that the loop ran last; None if it has run none."""
        (length,) = _LENGTH.unpack_from(self._memory, _BEATS.size)
        try:
            return ActivityKey.model_validate_json(self._memory[_TEXT_AT : _TEXT_AT + length])
        except ValidationError:
            return None

    def clear(self) -> None:
        """Forget the previous worker."""
        self._memory[:] = bytes(_SIZE)

    def mark_activity(self) -> None:
        """Write down for which activity the running task works."""
        key = current_activity()
        if key is None or key is self._last:
            return
        self._last = key
        text = key.model_dump_json().encode()
        if _TEXT_AT + len(text) <= _SIZE:
            self._memory[_BEATS.size : _TEXT_AT + len(text)] = _LENGTH.pack(len(text)) + text

    @asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Beat while the block runs, and mark the activity in each step of a new task."""
        faulthandler.register(STACK_SIGNAL, all_threads=False)
        loop = asyncio.get_running_loop()
        loop.set_task_factory(self._marked_task)
        beating = loop.create_task(self._beat())
        try:
            yield
        finally:
            beating.cancel()
            _BEATS.pack_into(self._memory, 0, 0)

    async def _beat(self) -> None:
        while True:
            _BEATS.pack_into(self._memory, 0, self.beats + 1)
            await asyncio.sleep(_INTERVAL_S)

    def _marked_task(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Any,  # noqa: ANN401 - asyncio also takes generators
        **options: Any,  # noqa: ANN401 - those of asyncio.Task, which grow with Python's versions
    ) -> asyncio.Task[Any]:
        return asyncio.Task(_MarkedCoroutine(coroutine, self), loop=loop, **options)


class _MarkedCoroutine(Coroutine[Any, Any, Any]):
    """A coroutine that marks its activity before each step."""

    def __init__(self, coroutine: Any, pulse: LoopPulse) -> None:  # noqa: ANN401 - as above
        self._coroutine = coroutine
        self._mark = pulse.mark_activity

    def send(self, value: Any) -> Any:  # noqa: ANN401 - the protocol's signature
        self._mark()
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:  # noqa: ANN401 - the protocol's signature
        self._mark()
        return self._coroutine.throw(*error)

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Any:  # noqa: ANN401 - the protocol's signature
        return self._coroutine.__await__()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - `cr_running` and others
        return getattr(self._coroutine, name)
