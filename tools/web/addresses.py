"""Which addresses may be asked for: pure rules over what is written, before and after DNS.

One parse decides: what is checked here is what is dialled and what is sent as `Host`, so that no
second reader of the same address can understand it in another way.
"""

import ipaddress
import re
from dataclasses import dataclass
from typing import NamedTuple

import httpx2

from models.errors import ToolFailed

_LONGEST = 4_000
# A backslash is a slash to browsers; blanks and controls are dropped by some readers alone.
_ODD = re.compile(r"[\x00-\x20\x7f-\xa0\\]")
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
# What some readers take for an IPv4 address: 127.1, 0x7f000001, 2130706433, 0177.0.0.1.
_NUMERIC_END = re.compile(r"(^|\.)(\d+|0x[0-9a-f]*)$")
_USUAL_PORTS = {"http": 80, "https": 443}

_REFUSED = tuple(
    ipaddress.ip_network(each)
    for each in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, and the metadata of some clouds
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "2001::/23",  # Teredo and others that hold or route to something else
        "2001:db8::/32",
        "2002::/16",  # 6to4 holds an IPv4 address
        "3fff::/20",
        "5f00::/16",
    )
)
# All of IPv6 that is routed: not ::1, ::ffff:127.0.0.1, 64:ff9b::, fc00::, fe80::, ff00::.
_ROUTED_V6 = ipaddress.ip_network("2000::/3")
_NEVER = tuple(
    ipaddress.ip_network(each)
    for each in (
        "0.0.0.0/8",
        "169.254.0.0/16",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/128",
        "::ffff:0:0/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2002::/16",
        "fe80::/10",
        "ff00::/8",
    )
)
"""Not even for a host that the operator allowed: its name may come to stand for the metadata."""


class Target(NamedTuple):
    """One place to send a request to, as it was read once and for all."""

    scheme: str
    host: str
    """A name in its ASCII form without a last dot, or an IP address without brackets."""
    port: int
    path: str
    """With the query, percent-encoded."""

    @property
    def origin(self) -> str:
        """Scheme, host and, where it is not the usual one, port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_usual = self.port == _USUAL_PORTS[self.scheme]
        return f"{self.scheme}://{host}" + ("" if is_usual else f":{self.port}")

    @property
    def host_and_port(self) -> str:
        """Whom politeness is owed: the host, and another server on a port of its own."""
        is_usual = self.port in _USUAL_PORTS.values()
        return self.host if is_usual else f"{self.host}:{self.port}"

    @property
    def address(self) -> str:
        """The whole address, without a fragment."""
        return self.origin + self.path


@dataclass(frozen=True)
class Allowed:
    """What the operator lets be read beside the public web."""

    hosts: frozenset[str] = frozenset()
    """`host` or `host:port`, in lower case; IPv6 in brackets where a port follows."""
    ports: frozenset[int] = frozenset({80, 443})

    @classmethod
    def of(cls, hosts: tuple[str, ...], ports: tuple[int, ...] = (80, 443)) -> "Allowed":
        """From the operator's words."""
        return cls(frozenset(each.lower().rstrip(".") for each in hosts), frozenset(ports))

    def names(self, host: str, port: int) -> bool:
        """Whether the operator named this host, or it with this port."""
        return host in self.hosts or self._names_port(host, port)

    def opens(self, host: str, port: int) -> bool:
        """Whether this port of the host may be asked."""
        return port in self.ports or self._names_port(host, port)

    def _names_port(self, host: str, port: int) -> bool:
        return bool({f"{host}:{port}", f"[{host}]:{port}"} & self.hosts)


def target_of(address: str, allowed: Allowed) -> Target:
    """The one meaning of an address.

    Raises:
        ToolFailed: it is not one that is read; says why, and what to give.
    """
    url = _parsed(address)
    if url.scheme not in _USUAL_PORTS:
        raise _refused(address, "only http and https are read")
    if url.userinfo:
        raise _refused(address, "it holds a user name or a password; leave them out")
    host = _host(address, url)
    port = url.port or _USUAL_PORTS[url.scheme]
    if not allowed.opens(host, port):
        raise _refused(address, f"port {port} is not one of those that are read")
    if is_address(host) and (why := refusal(host, is_named=allowed.names(host, port))):
        raise _refused(address, why)
    return Target(url.scheme, host, port, url.raw_path.decode("ascii"))


def joined(base: Target, location: str, allowed: Allowed) -> Target:
    """Where a redirect from `base` leads.

    Raises:
        ToolFailed: to nowhere that is read.
    """
    if _ODD.search(location) or len(location) > _LONGEST:
        raise _refused(location, "a redirect leads there, and it is not an address")
    try:
        address = str(httpx2.URL(base.address).join(location))
    except (httpx2.InvalidURL, ValueError, UnicodeError) as error:
        raise _refused(location, "a redirect leads there, and it is not an address") from error
    return target_of(address, allowed)


def is_address(host: str) -> bool:
    """Whether the host is an IP address, not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def refusal(answer: str, *, is_named: bool) -> str:
    """Why this IP address is not connected to; empty if it may be.

    `is_named` says that the operator allowed the host by name: then private addresses are fine.
    """
    try:
        found = ipaddress.ip_address(answer)
    except ValueError:
        return f"{answer!r} is not an IP address"
    if isinstance(found, ipaddress.IPv6Address) and found.scope_id:
        return f"{answer} is not public"
    refused = _NEVER if is_named else _REFUSED
    if any(found in network for network in refused if network.version == found.version):
        return f"{answer} is not public"
    if not is_named and not _is_routed(found):
        return f"{answer} is not public"
    return ""


def _is_routed(found: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(found, ipaddress.IPv6Address) and found not in _ROUTED_V6:
        return False
    return found.is_global and not found.is_multicast and not found.is_reserved


def _parsed(address: str) -> httpx2.URL:
    if len(address) > _LONGEST:
        raise _refused(address[:80] + "…", f"it is longer than {_LONGEST} characters")
    if _ODD.search(address):
        raise _refused(address, "it holds blanks, backslashes or control characters")
    try:
        return httpx2.URL(address)
    except (httpx2.InvalidURL, ValueError, UnicodeError) as error:
        raise _refused(address, "it is not an address; give one such as https://…") from error


def _host(address: str, url: httpx2.URL) -> str:
    host = url.raw_host.decode("ascii", "replace").lower()
    if ":" in host and is_address(host):
        return str(ipaddress.ip_address(host))
    host = host.removesuffix(".")
    if _NUMERIC_END.search(host):
        if not is_address(host):  # ipaddress takes four plain decimals alone
            raise _refused(address, "an IP address is written as four decimal numbers")
        return host
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise _refused(address, "its host is not a name")
    return host


def _refused(address: str, why: str) -> ToolFailed:
    return ToolFailed(f"{address[:300]!r} is not fetched: {why}")
