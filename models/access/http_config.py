"""Define the table `[http]` of `holdfast.toml`: who may reach the server, and how."""

import ipaddress
import re
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen


def _network(text: str) -> str:
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no address or network such as 10.0.0.0/8") from error
    return text


_ROOT_PATH = re.compile(r"(/[A-Za-z0-9_-][A-Za-z0-9._-]*){1,8}")
_OWN_PATHS = frozenset(
    {"ask", "collections", "health", "jobs", "mcp", "metrics", "models", "open", "openapi.json"}
    | {"sign-in", "sign-out", "spend", "static", "v1"}
)
"""The first part of each path of the server: a proxy may remove the root path or leave it, so the
two must differ."""


def checked_root_path(text: str) -> str:
    """Return the root path without a slash at its end; `/` is the same as none.

    Raises:
        BadInput: the text is no path, or its first part is a path of the server.
    """
    path = text.rstrip("/")
    if path and (len(path) > 200 or not _ROOT_PATH.fullmatch(path)):
        raise BadInput(
            f"the root path {text[:200]!r} is no path such as /holdfast: give letters, digits, "
            "dots and dashes between slashes"
        )
    if path and path.split("/")[1] in _OWN_PATHS:
        raise BadInput(
            f"the root path {text[:200]!r} begins like a path of the server itself; give another "
            "one, such as /holdfast"
        )
    return path


def _root_path(text: str) -> str:
    try:
        return checked_root_path(text)
    except BadInput as error:
        raise ValueError(str(error)) from error


HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
Origin = Annotated[
    str, StringConstraints(pattern=r"^https?://[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[0-9]{1,5})?$")
]
RootPath = Annotated[str, AfterValidator(_root_path)]
Network = Annotated[str, AfterValidator(_network)]


class HttpConfig(Frozen):
    """What the server cannot know by itself: names, proxies, and numbers."""

    names: tuple[HostName, ...] = ()
    """Host names that requests may name besides this computer's own."""
    trusted_proxies: tuple[Network, ...] = ()
    """Addresses whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed."""
    root_path: RootPath = ""
    """The path under which a proxy serves this server, such as `/holdfast`."""
    origins: tuple[Origin, ...] = ()
    """Web pages of other sites whose scripts may send requests with a key (CORS)."""
    streams: Annotated[int, Field(ge=1, le=100_000)] = 1_000
    """How many followers of jobs may be connected at once."""
    streams_per_key: Annotated[int, Field(ge=1, le=100_000)] = 100
    """How many of them may use one API key."""
