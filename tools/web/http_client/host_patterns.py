"""Match hosts against a list of hosts that the operator wrote."""

from collections.abc import Iterable
from dataclasses import dataclass

_EVERY_HOST = "*"
_SUBDOMAINS = "*."


@dataclass(frozen=True)
class HostPatterns:
    """Hosts as `host`, `host:port`, `*.domain` (every name below the domain) or `*`."""

    patterns: tuple[str, ...] = ()
    """In lower case; IPv6 in brackets where a port follows."""

    @classmethod
    def of(cls, hosts: Iterable[str]) -> "HostPatterns":
        """Build the patterns from the operator's settings."""
        return cls(tuple(host.lower().rstrip(".") for host in hosts))

    def matches(self, host: str, port: int) -> bool:
        """Return True if the host, or the host with this port, is one of the patterns."""
        forms = (host, f"{host}:{port}", f"[{host}]:{port}")
        return any(_matches(pattern, forms) for pattern in self.patterns)

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def __str__(self) -> str:
        return ", ".join(self.patterns) or "none"


def _matches(pattern: str, forms: tuple[str, ...]) -> bool:
    if pattern == _EVERY_HOST:
        return True
    if pattern.startswith(_SUBDOMAINS):
        # With the dot: `*.who.int` does not match `evilwho.int`.
        return any(form.endswith(pattern[1:]) for form in forms)
    return pattern in forms
