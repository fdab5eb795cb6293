"""Parse a web address once and decide whether the address may be requested.

There is only one parse: the checked target is also the target of the connection and the `Host`
header, so that no second parser can read the same address differently.
"""

import ipaddress
import re
from dataclasses import dataclass
from typing import NamedTuple

import httpx2

from holdfast.models.errors import ToolFailed
from holdfast.tools.web.http_client.host_patterns import HostPatterns

_MAX_ADDRESS_CHARS = 4_000
# Browsers read a backslash as a slash; only some parsers drop blanks and control characters.
_ODD = re.compile(r"[\x00-\x20\x7f-\xa0\\]")
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
# Forms that some parsers read as an IPv4 address: 127.1, 0x7f000001, 2130706433, 0177.0.0.1.
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
        "2001::/23",  # Teredo and others that contain or route to another address
        "2001:db8::/32",
        "2002::/16",  # 6to4 contains an IPv4 address
        "3fff::/20",
        "5f00::/16",
    )
)
# The routed part of IPv6: not ::1, ::ffff:127.0.0.1, 64:ff9b::, fc00::, fe80::, ff00::.
_ROUTED_V6 = ipaddress.ip_network("2000::/3")
_NEVER = tuple(
    ipaddress.ip_network(each)
    for each in (
        "0.0.0.0/8",
        "100.100.100.200/32",  # metadata of Alibaba Cloud
        "169.254.0.0/16",
        "192.0.0.192/32",  # metadata of Oracle Cloud
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/128",
        "::ffff:0:0/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2002::/16",
        "fd00:ec2::/32",  # metadata and other services of AWS
        "fd20:ce::254/128",  # metadata of Google Cloud
        "fe80::/10",
        "ff00::/8",
    )
)
"""Refused even for an allowed host, whose name may later resolve to the metadata service."""


class RequestTarget(NamedTuple):
    """The parsed address of a request."""

    scheme: str
    host: str
    """A name in ASCII form without a trailing dot, or an IP address without brackets."""
    port: int
    path: str
    """With the query, percent-encoded."""

    @property
    def origin(self) -> str:
        """Return scheme, host and, if it is not the default, port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_usual = self.port == _USUAL_PORTS[self.scheme]
        return f"{self.scheme}://{host}" + ("" if is_usual else f":{self.port}")

    @property
    def host_and_port(self) -> str:
        """Return the host, with a port that is not the default: the key of rate limits."""
        is_usual = self.port in _USUAL_PORTS.values()
        return self.host if is_usual else f"{self.host}:{self.port}"

    @property
    def address(self) -> str:
        """Return the whole address, without a fragment."""
        return self.origin + self.path


@dataclass(frozen=True)
class AllowedHosts:
    """Hosts and ports that the operator allows in addition to the public web."""

    hosts: frozenset[str] = frozenset()
    """`host` or `host:port`, in lower case; IPv6 in brackets where a port follows."""
    ports: frozenset[int] = frozenset({80, 443})
    only: HostPatterns | None = None
    """In private jobs: the hosts that may be reached at all. None: every public host."""
    table: str = "web"
    """The table of `holdfast.toml` that names the hosts, for messages."""

    @classmethod
    def of(
        cls,
        hosts: tuple[str, ...],
        ports: tuple[int, ...] = (80, 443),
        only: HostPatterns | None = None,
    ) -> "AllowedHosts":
        """Build the rules from the operator's settings."""
        return cls(frozenset(host.lower().rstrip(".") for host in hosts), frozenset(ports), only)

    def names(self, host: str, port: int) -> bool:
        """Return True if the operator named this host, or this host with this port."""
        return host in self.hosts or self._names_port(host, port)

    def allows_port(self, host: str, port: int) -> bool:
        """Return True if this port of the host may be requested."""
        return port in self.ports or self._names_port(host, port)

    def _names_port(self, host: str, port: int) -> bool:
        return bool({f"{host}:{port}", f"[{host}]:{port}"} & self.hosts)


def parse_target(address: str, allowed: AllowedHosts) -> RequestTarget:
    """Parse an address.

    Raises:
        ToolFailed: the address may not be requested; says why, and what to give.
    """
    url = _parsed(address)
    if url.scheme not in _USUAL_PORTS:
        raise _refused(address, "only http and https are read")
    if url.userinfo:
        raise _refused(address, "it holds a user name or a password; leave them out")
    host = _host(address, url)
    port = url.port or _USUAL_PORTS[url.scheme]
    if allowed.only is not None and not allowed.only.matches(host, port):
        # Before any look-up: the name of a host can carry text as well.
        raise _refused(address, _private_job_refusal(host, allowed.only))
    if not allowed.allows_port(host, port):
        raise _refused(address, f"port {port} is not one of those that are read")
    if is_ip_address(host) and (why := ip_refusal_reason(host, is_named=allowed.names(host, port))):
        raise _refused(address, why)
    return RequestTarget(url.scheme, host, port, url.raw_path.decode("ascii"))


def resolve_redirect(base: RequestTarget, location: str, allowed: AllowedHosts) -> RequestTarget:
    """Return the target of a redirect from `base`.

    Raises:
        ToolFailed: the target may not be requested.
    """
    if _ODD.search(location) or len(location) > _MAX_ADDRESS_CHARS:
        raise _refused(location, "a redirect leads there, and it is not an address")
    try:
        address = str(httpx2.URL(base.address).join(location))
    except (httpx2.InvalidURL, ValueError, UnicodeError) as error:
        raise _refused(location, "a redirect leads there, and it is not an address") from error
    return parse_target(address, allowed)


def is_ip_address(host: str) -> bool:
    """Return True if the host is an IP address, not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def ip_refusal_reason(answer: str, *, is_named: bool) -> str:
    """Return why this IP address is refused; empty if it is allowed.

    `is_named` is true if the operator allowed the host by name: then private addresses are fine.
    """
    try:
        ip = ipaddress.ip_address(answer)
    except ValueError:
        return f"{answer!r} is not an IP address"
    if isinstance(ip, ipaddress.IPv6Address) and ip.scope_id:
        return f"{answer} is not public"
    refused = _NEVER if is_named else _REFUSED
    if any(ip in network for network in refused if network.version == ip.version):
        return f"{answer} is not public"
    if not is_named and not _is_routed(ip):
        return f"{answer} is not public"
    return ""


def _is_routed(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(ip, ipaddress.IPv6Address) and ip not in _ROUTED_V6:
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def _parsed(address: str) -> httpx2.URL:
    if len(address) > _MAX_ADDRESS_CHARS:
        raise _refused(address[:80] + "…", f"it is longer than {_MAX_ADDRESS_CHARS} characters")
    if _ODD.search(address):
        raise _refused(address, "it holds blanks, backslashes or control characters")
    try:
        url = httpx2.URL(address)
        # The library finds other signs in the brackets of an IPv6 address only now.
        url.raw_host  # noqa: B018
    except (httpx2.InvalidURL, ValueError, UnicodeError) as error:
        raise _refused(address, "it is not an address; give one such as https://…") from error
    return url


def _host(address: str, url: httpx2.URL) -> str:
    host = url.raw_host.decode("ascii", "replace").lower()
    if ":" in host and is_ip_address(host):
        return str(ipaddress.ip_address(host))
    host = host.removesuffix(".")
    if _NUMERIC_END.search(host):
        if not is_ip_address(host):  # ipaddress accepts only four plain decimals
            raise _refused(address, "an IP address is written as four decimal numbers")
        return host
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise _refused(address, "its host is not a name")
    return host


def _private_job_refusal(host: str, only: HostPatterns) -> str:
    return (
        f"this job may read private documents, and {host!r} is not among the hosts that such a job "
        f"may reach: {only}. Use a source there, or go on without it; the operator may add the "
        "host to allowed_hosts under [private_jobs] in holdfast.toml"
    )


def _refused(address: str, why: str) -> ToolFailed:
    return ToolFailed(f"{address[:300]!r} is not fetched: {why}")
