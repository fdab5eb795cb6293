"""Read the tables `[http]` and `[oidc]` of `holdfast.toml`."""

from pathlib import Path

from holdfast.models.access.http_config import HttpConfig
from holdfast.models.access.oidc_config import OidcConfig
from holdfast.tools.holdfast_toml import read_toml_table

_OIDC_EXAMPLES = {
    "issuer": 'issuer = "https://login.example.org/realms/research"',
    "audience": 'audience = "holdfast"',
    "owner_claim": 'owner_claim = "email"',
    "owner_prefix": 'owner_prefix = "oidc."',
    "scope_claim": 'scope_claim = "scope"',
    "default_scopes": 'default_scopes = ["read", "ask"]',
    "jwks_url": 'jwks_url = "https://login.example.org/keys"',
}
_HTTP_EXAMPLES = {
    "names": 'names = ["research.example.org"]',
    "trusted_proxies": 'trusted_proxies = ["127.0.0.1", "10.0.0.0/8"]',
    "root_path": 'root_path = "/holdfast"',
    "origins": 'origins = ["https://app.example.org"]',
    "streams": "streams = 1000",
    "streams_per_key": "streams_per_key = 100",
}


def read_http(path: Path | None) -> HttpConfig:
    """Return the table `[http]`, or its defaults if the file has none.

    Raises:
        BadConfiguration: an entry is wrong; the message names file, table and key, and an example.
    """
    return read_toml_table(path, "http", HttpConfig, _HTTP_EXAMPLES) or HttpConfig()


def read_oidc(path: Path | None) -> OidcConfig | None:
    """Return the table `[oidc]`, or None if the file has none: then no provider's tokens count.

    Raises:
        BadConfiguration: as `read_http`.
    """
    return read_toml_table(path, "oidc", OidcConfig, _OIDC_EXAMPLES)
