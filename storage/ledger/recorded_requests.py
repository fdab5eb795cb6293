"""Choose the recorded request that a call repeats, although its words have changed since.

The hash of a request changes with every word of a prompt, so a release would ask again what an
earlier release has asked in the same attempt. If no call with the hash is recorded, the finished
calls of the same place (job, task, attempt, role, part) are compared by their content.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from pydantic import ValidationError

from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.model_requests import ModelRequest

RequestComparison: TypeAlias = Callable[[ModelRequest], bool]
"""True if a recorded request asks for the same as the request that is to be sent."""


def recorded_key(
    key: CallKey, recorded: Iterable[tuple[str, str]], is_same: RequestComparison
) -> CallKey:
    """Return the key of the first recorded request with the same content, else `key`.

    `recorded` are pairs of a request's hash and its JSON.
    """
    request_hash = recorded_request(recorded, is_same)
    return key if request_hash is None else key.model_copy(update={"request_hash": request_hash})


def recorded_request(recorded: Iterable[tuple[str, str]], is_same: RequestComparison) -> str | None:
    """Return the name of the first recorded request with the same content, or None.

    `recorded` are pairs of a request's name, such as its hash, and its JSON.
    """
    for name, content in recorded:
        try:
            request = ModelRequest.model_validate_json(content)
        except ValidationError:
            continue  # an earlier release wrote another form
        if is_same(request):
            return name
    return None


def is_never_same(_recorded: ModelRequest) -> bool:
    """Return False: only the hash identifies the request."""
    return False
