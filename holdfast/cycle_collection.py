"""Look for cycles of garbage less often than Python does by itself.

Python searches all young objects whenever 700 more were made than freed. The modules of Holdfast
make some 300,000 objects, which live as long as the process does, and each call of a model makes
thousands, which reference counts free without a search. The searches took a sixth of the processor
time of an import of all modules, and an eighth of that of jobs. The command line calls this before
its imports; the worker, whose module imports everything itself, calls it after them.
"""

import gc

_YOUNG_OBJECTS = 20_000
"""About 2 MB at most wait for a search."""


def look_for_cycles_rarely() -> None:
    """Raise the threshold for the rest of this process, so only a program may call this."""
    gc.set_threshold(_YOUNG_OBJECTS)
