"""List the secrets of a server, which no answer of any server may contain."""

import os
from urllib.parse import parse_qsl, urlsplit

from holdfast.tools.mcp.server_config import HttpServer, ServerConfig


def server_secrets(server: ServerConfig) -> tuple[str, ...]:
    """Return the values that the server gets from the environment or in its address."""
    if isinstance(server, HttpServer):
        headers = [os.environ.get(name, "").strip() for name in server.headers_env.values()]
        parts = urlsplit(server.url)
        in_url = [parts.password or "", *(value for _, value in parse_qsl(parts.query))]
        # In `Bearer abc` the second word alone is a secret as well.
        return (*headers, *(word for header in headers for word in header.split()), *in_url)
    return tuple(os.environ.get(name, "").strip() for name in server.env)
