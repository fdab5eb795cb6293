"""The tables `[web]` and `[wikipedia]` of `holdfast.toml`, in their shapes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from models.base import Frozen
from tools.toml import read_table

Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9._\[\]:-]+$", max_length=260)]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
HttpAddress = Annotated[str, Field(pattern=r"^https?://[^\s/@]+(/[^\s@]*)?$", max_length=500)]


class ProviderTable(Frozen):
    """A search provider; what is left out is as the provider itself has it."""

    url: HttpAddress | None = None
    key_env: Variable | None = None
    """The environment variable of the worker that holds the key; the key itself is nowhere."""


class WebTable(Frozen):
    """`[web]`: that it is there turns the server `web` on."""

    providers: Mapping[str, ProviderTable] = Field(
        default_factory=lambda: {"duckduckgo": ProviderTable()}
    )
    """By name, asked in this order."""
    allow_hosts: tuple[Host, ...] = ()
    """Hosts of the operator's own network that may be read, as `host` or `host:port`."""
    ports: tuple[Annotated[int, Field(ge=1, le=65535)], ...] = (80, 443)
    robots: Literal["obey", "ignore"] = "obey"
    contact: str = Field(default="", max_length=200, pattern=r"^[\x20-\x7e]*$")
    """Who answers for what is fetched: an address that goes into the User-Agent."""
    timeout_s: float = Field(default=30, gt=0, le=300)
    max_mb: float = Field(default=10, gt=0, le=50)
    delay_s: float = Field(default=0.5, ge=0, le=60)
    """Pause between two requests to one host."""
    cache_minutes: float = Field(default=15, ge=0, le=1440)


class WikipediaTable(Frozen):
    """`[wikipedia]`: that it is there turns the server `wikipedia` on."""

    contact: str = Field(min_length=3, max_length=200, pattern=r"^[\x20-\x7e]+$")
    """Wikimedia asks every client to say whom to write to."""
    language: str = Field(default="en", pattern=r"^[a-z][a-z0-9-]{1,19}$")
    url: HttpAddress | None = None
    """The `api.php` of another wiki; that of Wikipedia in `language` if left out."""
    timeout_s: float = Field(default=30, gt=0, le=300)

    @property
    def api(self) -> str:
        """The address that is asked."""
        return self.url or f"https://{self.language}.wikipedia.org/w/api.php"


_WEB_EXAMPLES = {
    "providers": '[web.providers.brave] with key_env = "BRAVE_API_KEY"',
    "allow_hosts": 'allow_hosts = ["wiki.intern.example", "10.0.0.7:8080"]',
    "ports": "ports = [80, 443]",
    "robots": 'robots = "obey" (or "ignore")',
    "contact": 'contact = "you@example.org"',
    "timeout_s": "timeout_s = 30",
    "max_mb": "max_mb = 10",
    "delay_s": "delay_s = 0.5",
    "cache_minutes": "cache_minutes = 15",
}
_WIKIPEDIA_EXAMPLES = {
    "contact": 'contact = "you@example.org"',
    "language": 'language = "en"',
    "url": 'url = "https://wiki.example.org/w/api.php"',
    "timeout_s": "timeout_s = 30",
}


def user_agent(contact: str) -> str:
    """What Holdfast calls itself; robots.txt knows it as `holdfast`."""
    return f"holdfast/0.1 (research engine{f'; {contact}' if contact else ''})"


def read_web(path: Path | None) -> WebTable | None:
    """The table `[web]`; none where the operator did not turn the web on.

    Raises:
        BadConfiguration: names the key, and says what to write.
    """
    return read_table(path, "web", WebTable, _WEB_EXAMPLES)


def read_wikipedia(path: Path | None) -> WikipediaTable | None:
    """The table `[wikipedia]`; none where the operator did not turn it on.

    Raises:
        BadConfiguration: names the key, and says what to write.
    """
    return read_table(path, "wikipedia", WikipediaTable, _WIKIPEDIA_EXAMPLES)
