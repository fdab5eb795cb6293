"""Collect the secrets that a worker uses, so that one mask hides all of them."""

import os
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from holdfast.configuration.embedding_settings import read_embeddings
from holdfast.configuration.model_settings import read_models
from holdfast.configuration.rerank_settings import read_rerank
from holdfast.settings import Settings
from holdfast.tools.mcp.server_config import ServerConfig
from holdfast.tools.mcp.server_secrets import server_secrets
from holdfast.tools.web.web_settings import read_web_settings


def known_secrets(
    settings: Settings, database_url: str, servers: Mapping[str, ServerConfig]
) -> frozenset[str]:
    """Return the values of all keys and passwords; a value that nobody uses is not searched for."""
    found = {
        *_endpoint_secrets(settings),
        *_database_secrets(database_url),
        *(secret for server in servers.values() for secret in server_secrets(server)),
        *(os.environ.get(name, "").strip() for name in _named_variables(settings)),
    }
    return frozenset(found - {""})


def _endpoint_secrets(settings: Settings) -> Iterator[str]:
    if settings.openai_api_key is not None:
        yield settings.openai_api_key.get_secret_value()
    if settings.payload_keys is not None:
        for each in settings.payload_keys.get_secret_value().split(","):
            yield each.strip().partition(":")[2]
    yield urlsplit(settings.openai_base_url).password or ""
    for model in read_models(settings.config_file).values():
        yield urlsplit(model.url or "").password or ""


def _database_secrets(database_url: str) -> Iterator[str]:
    password = urlsplit(database_url).password or ""
    yield password
    yield unquote(password)


def _named_variables(settings: Settings) -> Iterator[str]:
    """Return the variables with keys of Temporal, of all models, and of search providers."""
    yield "TEMPORAL_API_KEY"
    for model in read_models(settings.config_file).values():
        yield model.key_variable or ""
    embeddings = read_embeddings(settings.config_file)
    if embeddings is not None:
        yield embeddings.key_variable or ""
    rerank = read_rerank(settings.config_file)
    if rerank is not None:
        yield rerank.key_env or ""
    web = read_web_settings(settings.config_file)
    for provider in web.providers.values() if web is not None else ():
        if provider.key_env:
            yield provider.key_env
