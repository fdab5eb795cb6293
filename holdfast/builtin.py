"""The MCP servers that come with Holdfast, as this installation's `holdfast.toml` has them."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from holdfast.settings import Settings
from tools.hub import BuiltinServer
from tools.servers.corpus import PassageStore, corpus_server
from tools.servers.web import AT_ONCE, web_server
from tools.servers.wikipedia import wikipedia_server
from tools.web.opening import opened_web, opened_wiki
from tools.web.settings import read_web, read_wikipedia


@asynccontextmanager
async def builtin_servers(
    settings: Settings, store: PassageStore
) -> AsyncIterator[Mapping[str, BuiltinServer]]:
    """The servers by name; what they hold open is closed on leaving.

    Raises:
        BadConfiguration: a table of the file is not right; says what to write.
    """
    servers = {"corpus": BuiltinServer(corpus_server(store), {"collection": "collection"})}
    async with AsyncExitStack() as stack:
        if web := read_web(settings.config_file):
            parts = await stack.enter_async_context(opened_web(web, os.environ))
            server = web_server(parts.fetcher, parts.search)
            servers["web"] = BuiltinServer(server, {"fresh": "fresh"}, concurrency=AT_ONCE)
        if wikipedia := read_wikipedia(settings.config_file):
            wiki = await stack.enter_async_context(opened_wiki(wikipedia))
            bound = {"job": "job", "fresh": "fresh"}
            servers["wikipedia"] = BuiltinServer(wikipedia_server(wiki), bound)
        yield servers
