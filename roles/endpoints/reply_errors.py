"""Define what may be wrong with a reply that an endpoint has begun.

The errors are of the client's family, and `endpoint_errors` translates them with the client's own.
"""

from openai import OpenAIError


class ReplyRefused(OpenAIError):
    """A reply that is not read to its end; the message says why, and nothing of its content."""


class ReplyBroken(OpenAIError):
    """A streamed reply that stood still, or whose connection broke, before it was complete."""


class ReplyIncomplete(OpenAIError):
    """A streamed reply that made no sense, or that ended without saying why."""
