"""Read and check the `[embeddings]` table of `holdfast.toml`, and open the embedding model."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from holdfast.models.calls.model_config import OPENAI_KEY_VARIABLE
from holdfast.models.corpus.embeddings_config import EmbeddingsConfig
from holdfast.models.errors import BadConfiguration
from holdfast.settings import Settings
from holdfast.tools.holdfast_toml import read_toml_table

if TYPE_CHECKING:
    from holdfast.roles.endpoints.embedding_endpoint import Embedder

_EXAMPLES = {
    "model": 'model = "text-embedding-3-small"',
    "url": 'url = "http://127.0.0.1:8080/v1"',
    "key_env": f'key_env = "{OPENAI_KEY_VARIABLE}"',
    "batch_size": "batch_size = 64",
    "dimension": "dimension = 512",
    "timeout_s": "timeout_s = 60",
}


def read_embeddings(path: Path | None) -> EmbeddingsConfig | None:
    """Return the table `[embeddings]`, or None if the file has none.

    Raises:
        BadConfiguration: an entry is wrong; the message names file, table and key, and an example.
    """
    return read_toml_table(path, "embeddings", EmbeddingsConfig, _EXAMPLES)


def read_embeddings_with_key(
    settings: Settings,
) -> tuple[EmbeddingsConfig, SecretStr | None] | None:
    """Return the table `[embeddings]` with its API key, or None if the file has no such table.

    Raises:
        BadConfiguration: as `read_embeddings`, or the variable with the key is not set.
    """
    config = read_embeddings(settings.config_file)
    return None if config is None else (config, _key(config, settings))


@asynccontextmanager
async def open_embedder(settings: Settings) -> AsyncIterator["Embedder | None"]:
    """Yield the configured embedder, or None if the file configures none.

    Raises:
        BadConfiguration: as `read_embeddings_with_key`.
    """
    checked = read_embeddings_with_key(settings)
    if checked is None:
        yield None
        return
    config, key = checked
    # Imported here: the client takes a second, which commands without a model do not need.
    from holdfast.roles.endpoints.embedding_endpoint import create_embedder

    opened = create_embedder(config, base_url=settings.openai_base_url, key=key)
    try:
        yield opened
    finally:
        await opened.aclose()


def _key(config: EmbeddingsConfig, settings: Settings) -> SecretStr | None:
    variable = config.key_variable
    if variable is None or variable == OPENAI_KEY_VARIABLE:
        return settings.openai_api_key if variable else None
    secret = os.environ.get(variable)
    if not secret:
        raise BadConfiguration(
            f"{settings.config_file}: embeddings.key_env names the variable {variable}, "
            "which is not set; set it where the worker and `holdfast corpus` run"
        )
    return SecretStr(secret)
