"""Load a job's records once for all tabs that ask for them at the same time.

An event wakes every tab of its job at once. Without sharing, each of them reads all tasks and calls
again, and the more tabs there are, the later all of them show the event.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Loaded = TypeVar("Loaded")


@dataclass
class _KeyLoads(Generic[Loaded]):
    """The load that runs for a key, and the one that begins after it."""

    running: asyncio.Task[Loaded]
    next: asyncio.Task[Loaded] | None = None


@dataclass
class SharedLoads(Generic[Loaded]):
    """At most one load at a time for each key.

    A request never gets what was read before the request came: a load that has begun may have
    missed the event that woke the tab. So requests that come during a load share the next one.
    """

    _loads: dict[Hashable, _KeyLoads[Loaded]] = field(default_factory=dict)

    async def load(self, key: Hashable, load: Callable[[], Awaitable[Loaded]]) -> Loaded:
        """What `load` gives, or what the same load for another request of this key gives.

        All requests that share a load get its error. A request that is cancelled leaves the load
        to the others.
        """
        loads = self._loads.get(key)
        if loads is None:
            task = asyncio.create_task(self._run(key, load))
            self._loads[key] = _KeyLoads(task)
        elif loads.next is None:
            task = loads.next = asyncio.create_task(self._run_after(loads.running, key, load))
        else:
            task = loads.next
        return await asyncio.shield(task)

    async def _run_after(
        self, before: asyncio.Task[Loaded], key: Hashable, load: Callable[[], Awaitable[Loaded]]
    ) -> Loaded:
        # The error of the load before is that of other requests.
        await asyncio.wait([before])
        return await self._run(key, load)

    async def _run(self, key: Hashable, load: Callable[[], Awaitable[Loaded]]) -> Loaded:
        try:
            return await load()
        finally:
            self._step(key)

    def _step(self, key: Hashable) -> None:
        """Make the load that waits for this one the running one."""
        waiting = self._loads[key].next
        if waiting is None:
            del self._loads[key]
        else:
            self._loads[key] = _KeyLoads(waiting)
