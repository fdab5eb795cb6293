"""Define the table `[http]` of `holdfast.toml`: who may reach the server, and how."""

import ipaddress
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from holdfast.models.frozen_model import Frozen


def _network(text: str) -> str:
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no address or network such as 10.0.0.0/8") from error
    return text


HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
Network = Annotated[str, AfterValidator(_network)]


class HttpConfig(Frozen):
    """What the server cannot know by itself: names, proxies, and numbers."""

    names: tuple[HostName, ...] = ()
    """Host names that requests may name besides this computer's own."""
    trusted_proxies: tuple[Network, ...] = ()
    """Addresses whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed."""
    streams: Annotated[int, Field(ge=1, le=100_000)] = 1_000
    """How many followers of jobs may be connected at once."""
    streams_per_key: Annotated[int, Field(ge=1, le=100_000)] = 100
    """How many of them may use one API key."""
