"""Define which parts of ended jobs can be pruned."""

from enum import StrEnum


class PrunedPart(StrEnum):
    """What is removed of a job that ended."""

    JOBS = "jobs"
    """The whole job, as `rm` removes it."""
    RESPONSES = "responses"
    """The exact requests to models, and what models and tools answered."""
    EVENTS = "events"
    """The job's log, but for its last entry."""
