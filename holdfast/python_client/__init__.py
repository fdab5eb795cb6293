"""The Python client: submit, follow, answer and read over HTTP, and import nothing of the engine.

`asynchronous/` is written by hand; `synchronous/` is made from it by `make client`.
"""

from holdfast.python_client.api_errors import (
    AccessRefused,
    ApiError,
    InvalidRequest,
    KeyRefused,
    NotFound,
    PlanMoved,
    RequestKeyTaken,
    ServerUnreachable,
    ServiceUnavailable,
    TooManyRequests,
)
from holdfast.python_client.asynchronous.client import AsyncClient
from holdfast.python_client.synchronous.client import Client

__all__ = [
    "AccessRefused",
    "ApiError",
    "AsyncClient",
    "Client",
    "InvalidRequest",
    "KeyRefused",
    "NotFound",
    "PlanMoved",
    "RequestKeyTaken",
    "ServerUnreachable",
    "ServiceUnavailable",
    "TooManyRequests",
]
