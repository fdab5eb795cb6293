"""Bound how many processes of a worker read foreign bytes at once."""

import asyncio
import os

_LEAST = 4

ProcessSlots = asyncio.Semaphore
"""One for all servers of a worker: the memory that their processes take together is its number
times the memory of one process, 2 GB at most."""


def process_slots() -> ProcessSlots:
    """Return as many slots as there are processors, and at least four."""
    return asyncio.Semaphore(max(_LEAST, os.cpu_count() or 0))
