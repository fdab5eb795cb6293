"""Define the causes of plan changes: a closed set that is stored in PostgreSQL."""

from enum import StrEnum


class PlanChangeCause(StrEnum):
    """Why the plan changed."""

    PLANNED = "planned"
    """The planner made the plan, or an agent planned all its steps ahead."""
    STEPPED = "stepped"
    """An agent added its next step."""
    EXTENDED = "extended"
    """An agent that plans ahead added steps, because its assessor asked for more."""
    REPLANNED = "replanned"
    """A continuation replaced a failed task and its dependents."""
    REVISED = "revised"
    """A self-revision refined unfinished tasks."""
    GAPS = "gaps"
    """Verification had tasks retried, or added tasks for missing results."""
    QUESTION = "question"
    """An agent's question became a task."""
    EDITED = "edited"
    """A person edited the plan before it ran."""
    SET_ASIDE = "set_aside"
    """A person had the plan discarded and planned again."""
