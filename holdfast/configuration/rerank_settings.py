"""Read and check the `[rerank]` table of `holdfast.toml`, and open the reranking model."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from holdfast.models.corpus.rerank_config import RerankConfig
from holdfast.models.errors import BadConfiguration
from holdfast.tools.holdfast_toml import read_toml_table

if TYPE_CHECKING:
    from holdfast.roles.endpoints.rerank_endpoint import Reranker

_EXAMPLES = {
    "model": 'model = "rerank-v3.5"',
    "url": 'url = "https://api.cohere.com/v2"',
    "form": 'form = "tei"',
    "key_env": 'key_env = "COHERE_API_KEY"',
    "candidates": "candidates = 30",
    "timeout_s": "timeout_s = 10",
}


def read_rerank(path: Path | None) -> RerankConfig | None:
    """Return the table `[rerank]`, or None if the file has none.

    Raises:
        BadConfiguration: an entry is wrong; the message names file, table and key, and an example.
    """
    return read_toml_table(path, "rerank", RerankConfig, _EXAMPLES)


def read_rerank_with_key(path: Path | None) -> tuple[RerankConfig, SecretStr | None] | None:
    """Return the table with its API key, or None if the file has no such table.

    Raises:
        BadConfiguration: as `read_rerank`, or the variable with the key is not set.
    """
    config = read_rerank(path)
    if config is None or config.key_env is None:
        return None if config is None else (config, None)
    secret = os.environ.get(config.key_env)
    if not secret:
        raise BadConfiguration(
            f"{path}: rerank.key_env names the variable {config.key_env}, which is not set; set it "
            "where the worker and `holdfast corpus` run"
        )
    return config, SecretStr(secret)


@asynccontextmanager
async def open_reranker(path: Path | None) -> AsyncIterator["Reranker | None"]:
    """Yield the configured model, or None if the file configures none.

    Raises:
        BadConfiguration: as `read_rerank_with_key`.
    """
    checked = read_rerank_with_key(path)
    if checked is None:
        yield None
        return
    # Imported here: the client takes a second, which commands without a model do not need.
    from holdfast.roles.endpoints.rerank_endpoint import create_reranker

    opened = create_reranker(*checked)
    try:
        yield opened
    finally:
        await opened.aclose()
