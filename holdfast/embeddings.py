"""The model that embeds passages and queries, as this installation's `holdfast.toml` names it."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from holdfast.settings import Settings
from models.embeddings import KEY_VARIABLE, EmbeddingsConfig
from models.errors import BadConfiguration
from tools.toml import read_table

if TYPE_CHECKING:
    from roles.embeddings import Embedder

_EXAMPLES = {
    "model": 'model = "text-embedding-3-small"',
    "url": 'url = "http://127.0.0.1:8080/v1"',
    "key_env": f'key_env = "{KEY_VARIABLE}"',
    "batch_size": "batch_size = 64",
    "dimension": "dimension = 512",
    "timeout_s": "timeout_s = 60",
}


def read_embeddings(path: Path | None) -> EmbeddingsConfig | None:
    """The table `[embeddings]`; none where the file has none.

    Raises:
        BadConfiguration: names file, table and key, and says what to write.
    """
    return read_table(path, "embeddings", EmbeddingsConfig, _EXAMPLES)


def checked_embeddings(settings: Settings) -> tuple[EmbeddingsConfig, SecretStr | None] | None:
    """The table with its key; none where the file has none.

    Raises:
        BadConfiguration: as `read_embeddings`, or the variable with the key is not set.
    """
    config = read_embeddings(settings.config_file)
    return None if config is None else (config, _key(config, settings))


@asynccontextmanager
async def opened_embedder(settings: Settings) -> AsyncIterator["Embedder | None"]:
    """The embedder while the block lasts; none where the file names none.

    Raises:
        BadConfiguration: as `checked_embeddings`.
    """
    checked = checked_embeddings(settings)
    if checked is None:
        yield None
        return
    config, key = checked
    # Here, since its client costs a second that a command without a model must not pay.
    from roles.embeddings import embedder

    opened = embedder(config, base_url=settings.openai_base_url, key=key)
    try:
        yield opened
    finally:
        await opened.aclose()


def _key(config: EmbeddingsConfig, settings: Settings) -> SecretStr | None:
    if config.key_env == KEY_VARIABLE:
        return settings.openai_api_key
    secret = os.environ.get(config.key_env)
    if not secret:
        raise BadConfiguration(
            f"{settings.config_file}: embeddings.key_env names the variable {config.key_env}, "
            "which is not set; set it where the worker and `holdfast corpus` run"
        )
    return SecretStr(secret)
