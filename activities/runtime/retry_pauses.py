"""Choose the pause before the next attempt at an activity that failed."""

from datetime import timedelta

from holdfast.models.calls.retry_pause import retry_pause
from holdfast.models.errors import Passing, StorageAway

_PAUSES_S = (1.0, 60.0)
_PAUSES_WITHOUT_STORAGE_S = (0.5, 5.0)
"""The longest pause while PostgreSQL is unavailable: asking again is free."""


def pause_after_error(error: Passing, failures: int) -> timedelta:
    """Return the pause after so many failures, unless the other side has named one."""
    if error.after is not None:
        return error.after
    is_storage = isinstance(error, StorageAway)
    return retry_pause(*(_PAUSES_WITHOUT_STORAGE_S if is_storage else _PAUSES_S), failures)


def pause_after_fault(faults: int) -> timedelta:
    """Return the pause after so many faults of Holdfast itself."""
    return retry_pause(*_PAUSES_S, faults)
