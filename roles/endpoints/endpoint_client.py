"""Open a client of the `openai` library that sends one key to one endpoint, and nothing else."""

import os
from datetime import timedelta
from typing import cast

from openai import AsyncOpenAI, Omit, Timeout, omit
from pydantic import SecretStr

from holdfast.roles.endpoints.bounded_replies import bounded_http_client


def openai_client(base_url: str, key: SecretStr | None, timeout: timedelta) -> AsyncOpenAI:
    """A client that sends only this key and does not retry."""
    # A key that is None would be read from OPENAI_API_KEY, and sent to whatever base_url names.
    secret = key.get_secret_value() if key else "none"
    return AsyncOpenAI(
        base_url=base_url,
        api_key=secret,
        max_retries=0,
        timeout=Timeout(timeout.total_seconds(), connect=5),
        http_client=bounded_http_client(),
        default_headers=cast("dict[str, str]", _headers(secret)),  # `omit` is allowed, not typed
    )


def _headers(secret: str) -> dict[str, str | Omit]:
    """Headers that undo those which the client adds from the environment."""
    ours = {
        "authorization": f"Bearer {secret}",
        "content-type": "application/json",
        "accept": "application/json",
        "accept-encoding": "gzip",
    }
    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    names = [line.partition(":")[0].strip() for line in lines if ":" in line]
    names += ["OpenAI-Organization", "OpenAI-Project"]
    return {name: ours.get(name.lower(), omit) for name in names}
