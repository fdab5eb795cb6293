"""Treat SIGTERM and a closed terminal like Ctrl-C, for commands that start servers of their own."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Handle both in the block as Ctrl-C is handled: stop what the block started, then end.

    The servers run detached, so `kill` would leave them behind otherwise. A command under `nohup`
    goes on without its terminal. Only the main thread may enter the block.
    """
    ending = [signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ending.append(signal.SIGHUP)
    before = {each: signal.signal(each, _interrupt) for each in ending}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _interrupt(_number: int, frame: FrameType | None) -> None:
    # In `asyncio.run` this is a handler that cancels the main task. A shell lets commands in the
    # background ignore SIGINT, and SIGTERM has to end them all the same.
    handler = signal.getsignal(signal.SIGINT)
    interrupt = handler if callable(handler) else signal.default_int_handler
    interrupt(signal.SIGINT, frame)
