"""Define the overlap policies of schedules; the command line imports no more for its help."""

from enum import StrEnum


class OverlapPolicy(StrEnum):
    """What happens if the job of the run before has not ended."""

    SKIP = "skip"
    """The run is left out."""
    WAIT = "wait"
    """The run begins once the job has ended; of several such runs, one."""
    PARALLEL = "parallel"
    """The run begins at once."""
