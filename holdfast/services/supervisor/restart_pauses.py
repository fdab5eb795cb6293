"""Compute the pause before a process that ends early is started again."""

_MAX_DELAY_S = 30.0


def restart_delay_s(short_lives: int) -> float:
    """Return the pause before the next start, by the number of consecutive early deaths.

    Zero after a long life (0) and after the first early death, then 1, 2, 4, ... 30 seconds.
    """
    return 0.0 if short_lives < 2 else min(_MAX_DELAY_S, 2.0 ** min(short_lives - 2, 8))
