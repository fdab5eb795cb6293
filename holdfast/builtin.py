"""The MCP servers that come with Holdfast, as this installation's `holdfast.toml` has them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from holdfast.embeddings import opened_embedder
from holdfast.settings import Settings
from tools.corpus_finding import PassageStore
from tools.hub import BuiltinServer
from tools.servers.corpus import corpus_server


@asynccontextmanager
async def builtin_servers(
    settings: Settings,
    store: PassageStore,
) -> AsyncIterator[Mapping[str, BuiltinServer]]:
    """The servers by name; what they hold open is closed on leaving.

    Raises:
        BadConfiguration: a table of the file is not right; says what to write.
    """
    async with opened_embedder(settings) as embedder:
        corpus = corpus_server(store, embedder)
        yield {"corpus": BuiltinServer(corpus, {"collection": "collection"})}
