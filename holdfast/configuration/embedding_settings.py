"""Read and check the `[embeddings]` table of `holdfast.toml`, and open the embedding model."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr

from holdfast.models.calls.model_config import OPENAI_KEY_VARIABLE
from holdfast.models.corpus.embeddings_config import EmbeddingsConfig
from holdfast.models.corpus.search_criteria import QueryVector
from holdfast.models.errors import BadConfiguration
from holdfast.settings import Settings
from holdfast.tools.holdfast_toml import read_toml_table
from holdfast.tools.optional_parts import OptionalPart, is_installed

_EXAMPLES = {
    "model": 'model = "text-embedding-3-small"',
    "url": 'url = "http://127.0.0.1:8080/v1"',
    "key_env": f'key_env = "{OPENAI_KEY_VARIABLE}"',
    "batch_size": "batch_size = 64",
    "dimension": "dimension = 512",
    "timeout_s": "timeout_s = 60",
}


class Embedder(Protocol):
    """A model that turns texts into vectors, at an endpoint or on this machine."""

    @property
    def config(self) -> EmbeddingsConfig: ...

    @property
    def model(self) -> str: ...

    @property
    def address(self) -> str: ...

    @property
    def is_local(self) -> bool:
        """True if the vectors are computed on this machine, in a worker's spare time."""
        ...

    async def query(self, text: str) -> QueryVector: ...

    async def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...

    async def aclose(self) -> None: ...


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


def create_local_embedder(settings: Settings) -> Embedder | None:
    """Return the model on this machine, or None if it is not installed or not to be used.

    Nothing is loaded before the first text.

    Raises:
        BadConfiguration: as `read_embeddings`.
    """
    if read_embeddings(settings.config_file) is not None:
        return None
    if not settings.local_embeddings or not is_installed(OptionalPart.SEMANTIC):
        return None
    from holdfast.roles.sentence_model.local_embedder import LocalEmbedder, weights_folder

    folder = weights_folder()
    return None if folder is None else LocalEmbedder(folder)


def embedding_model_name(settings: Settings) -> str | None:
    """Return the name of the model whose vectors searches use, or None without a model.

    Raises:
        BadConfiguration: as `read_embeddings`.
    """
    config = read_embeddings(settings.config_file)
    if config is not None:
        return config.model
    local = create_local_embedder(settings)
    return local.model if local else None


@asynccontextmanager
async def open_embedder(settings: Settings) -> AsyncIterator[Embedder | None]:
    """Yield the embedder that the file names, else the one on this machine, else None.

    Raises:
        BadConfiguration: as `read_embeddings_with_key`.
    """
    opened = _open(settings)
    if opened is None:
        yield None
        return
    try:
        yield opened
    finally:
        await opened.aclose()


def _open(settings: Settings) -> Embedder | None:
    checked = read_embeddings_with_key(settings)
    if checked is None:
        return create_local_embedder(settings)
    config, key = checked
    # Imported here: the client takes a second, which commands without a model do not need.
    from holdfast.roles.endpoints.embedding_endpoint import create_embedder

    return create_embedder(config, base_url=settings.openai_base_url, key=key)


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
