"""Define the status of a recorded model call or tool call."""

from enum import StrEnum


class CallStatus(StrEnum):
    """What became of a call; only a call that is done has an answer."""

    STARTED = "started"
    """The call was recorded and sent; no answer is recorded."""
    DONE = "done"
    """The answer is recorded; the call is never sent again."""
    FAILED = "failed"
    """The call returned an error and may be sent again."""
    REFUSED = "refused"
    """The call returned an error that stays, or must not be sent."""
    UNKNOWN = "unknown"
    """No answer came: the job ended, another request took its place, the call was cut off, or the
    answer was late or lost, and the tool is not declared safe to repeat."""
