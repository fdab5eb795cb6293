"""Measure work in processor seconds of one known machine, so a slow or busy one changes nothing.

A busy machine takes no processor time from a thread, but a shared one makes its processor slower:
the same work was seen to take twice the processor time. So a fixed piece of work is timed right
after the measured one, and tells how slow the machine is at that moment.
"""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from statistics import median

_KNOWN_MACHINE_S = 0.010
"""What the fixed work takes on the machine on which the limits of the tests were set."""
_WORDS = re.compile(r"(\w+)-(\d+)")
_RUNS = 5


def processor_s(work: Callable[[], object], *refusals: type[Exception]) -> float:
    """The seconds that the work takes in this thread; a typed refusal is a fine end of it."""
    start = time.thread_time()
    with suppress(*refusals):
        work()
    return known_machine_s(time.thread_time() - start)


def known_machine_s(took_s: float) -> float:
    """What the known machine would have taken for what just took `took_s` of processor time."""
    return took_s / max(1.0, median(_fixed_work_s() for _ in range(_RUNS)) / _KNOWN_MACHINE_S)


def _fixed_work_s() -> float:
    start = time.thread_time()
    texts = [f"name-{number} " for number in range(8_000)]
    found = {mark[1]: int(mark[2]) for mark in _WORDS.finditer("".join(texts))}
    sorted((isinstance(text, str), len(text), str(found)[:4]) for text in texts[:4_000])
    return time.thread_time() - start
