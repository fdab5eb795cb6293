"""Look for cycles of garbage less often than Python does by itself.

Python looks at all young objects whenever 700 more were made than freed. A process of Holdfast
makes some 300,000 objects while it is imported, which live as long as the process does, and
thousands for each call of a model, which reference counts free without a search. The searches took
a sixth of the processor time of an import, and an eighth of that of a job.
"""

import gc

_YOUNG_OBJECTS = 20_000
"""About 2 MB at most wait for a search."""


def look_for_cycles_rarely() -> None:
    """For the rest of this process; only a program calls it, never a library."""
    gc.set_threshold(_YOUNG_OBJECTS)
