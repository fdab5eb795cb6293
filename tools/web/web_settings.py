"""Define the tables `[web]` and `[wikipedia]` of `holdfast.toml`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from holdfast.models.frozen_model import Frozen
from holdfast.tools.holdfast_toml import read_toml_table

Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9._\[\]:-]+$", max_length=260)]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
HttpAddress = Annotated[str, Field(pattern=r"^https?://[^\s/@]+(/[^\s@]*)?$", max_length=500)]


class ProviderSettings(Frozen):
    """A search provider; omitted settings keep the provider's defaults."""

    url: HttpAddress | None = None
    key_env: Variable | None = None
    """The worker's environment variable that holds the key; the file never contains the key."""


class WebSettings(Frozen):
    """`[web]`: the table turns the server `web` on."""

    providers: Mapping[str, ProviderSettings] = Field(
        default_factory=lambda: {"duckduckgo": ProviderSettings()}
    )
    """Providers by name, asked in this order."""
    allow_hosts: tuple[Host, ...] = ()
    """Hosts of the operator's network that may be read, as `host` or `host:port`."""
    ports: tuple[Annotated[int, Field(ge=1, le=65535)], ...] = (80, 443)
    robots: Literal["obey", "ignore"] = "obey"
    contact: str = Field(default="", max_length=200, pattern=r"^[\x20-\x7e]*$")
    """The operator's contact address, which becomes a part of the User-Agent."""
    timeout_s: float = Field(default=30, gt=0, le=300)
    max_mb: float = Field(default=10, gt=0, le=50)
    delay_s: float = Field(default=0.5, ge=0, le=60)
    """Seconds of pause between two requests to one host."""
    cache_minutes: float = Field(default=15, ge=0, le=1440)


class WikipediaSettings(Frozen):
    """`[wikipedia]`: the table turns the server `wikipedia` on."""

    contact: str = Field(min_length=3, max_length=200, pattern=r"^[\x20-\x7e]+$")
    """The operator's contact address; Wikimedia requires one of every client."""
    language: str = Field(default="en", pattern=r"^[a-z][a-z0-9-]{1,19}$")
    url: HttpAddress | None = None
    """The `api.php` of another wiki; default is Wikipedia in `language`."""
    timeout_s: float = Field(default=30, gt=0, le=300)

    @property
    def api(self) -> str:
        """Return the address of the API."""
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
    """Return Holdfast's User-Agent; its name in robots.txt is `holdfast`."""
    return f"holdfast/0.1 (research engine{f'; {contact}' if contact else ''})"


def read_web_settings(path: Path | None) -> WebSettings | None:
    """Return the table `[web]`; None if the file has no such table.

    Raises:
        BadConfiguration: a key is wrong; names it, and says what to write.
    """
    return read_toml_table(path, "web", WebSettings, _WEB_EXAMPLES)


def read_wikipedia_settings(path: Path | None) -> WikipediaSettings | None:
    """Return the table `[wikipedia]`; None if the file has no such table.

    Raises:
        BadConfiguration: a key is wrong; names it, and says what to write.
    """
    return read_toml_table(path, "wikipedia", WikipediaSettings, _WIKIPEDIA_EXAMPLES)
