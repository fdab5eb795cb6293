"""Name an endpoint in messages."""

from urllib.parse import urlsplit, urlunsplit


def address_without_secrets(base_url: str) -> str:
    """The endpoint as messages may name it: without a password or a key in the query."""
    parts = urlsplit(base_url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
