"""Track how far one request to a tool server got, because the library's errors do not tell."""

from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta


@dataclass
class RequestTrace:
    """What is known about a request whose outcome may be unclear."""

    left: bool = False
    lost: str | None = None
    status: int | None = None
    after: timedelta | None = None


current_trace: ContextVar[RequestTrace] = ContextVar("request_trace")
