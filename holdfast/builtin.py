"""The MCP servers that come with Holdfast, as this installation's `holdfast.toml` has them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from holdfast.settings import Settings
from tools.hub import BuiltinServer
from tools.servers.corpus import PassageStore, corpus_server


@asynccontextmanager
async def builtin_servers(
    settings: Settings,  # noqa: ARG001 - what comes with Holdfast is set there
    store: PassageStore,
) -> AsyncIterator[Mapping[str, BuiltinServer]]:
    """The servers by name; what they hold open is closed on leaving.

    Raises:
        BadConfiguration: a table of the file is not right; says what to write.
    """
    yield {"corpus": BuiltinServer(corpus_server(store), {"collection": "collection"})}
