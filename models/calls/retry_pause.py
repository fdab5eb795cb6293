"""Choose the pause before a failed call or connection is tried again."""

import random
from datetime import timedelta


def retry_pause(first_s: float, longest_s: float, attempt: int) -> timedelta:
    """The pause after this attempt, counted from 1: doubled each time, up to the longest.

    Up to a fifth less by chance, so that callers that failed together do not return together.
    """
    pause_s = min(first_s * 2.0 ** min(attempt - 1, 16), longest_s)
    return timedelta(seconds=pause_s * random.uniform(0.8, 1))  # noqa: S311 - nothing secret
