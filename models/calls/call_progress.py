"""Define how far a model call has come; the endpoint writes it, and its caller reads it."""

from dataclasses import dataclass


@dataclass
class CallProgress:
    """What has come of the reply to one call so far."""

    received_chars: int = 0
    """Characters of the reply, with the thoughts that the endpoint shows; 0 if not streamed."""
    is_streamed: bool = False
    """True if the endpoint sends the reply as it is written."""
