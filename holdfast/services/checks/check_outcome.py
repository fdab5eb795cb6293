"""The outcome of one check of an installation, and the remedies that several checks name."""

from typing import NamedTuple

TIMEOUT_S = 5.0
START_HINT = "run `holdfast up`"
BUSY_HINT = "this machine may be busy: run `holdfast doctor` again"


class CheckOutcome(NamedTuple):
    """Whether a part works, what was seen, and how to repair the part."""

    is_good: bool | None
    """None if there was nothing to check."""
    detail: str
    remedy: str = ""

    ran_out_of_time: bool = False
    """True if the part did not answer in time, which a busy machine causes too."""
