"""Open the built-in MCP servers that `holdfast.toml` enables."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from holdfast.configuration.embedding_settings import open_embedder
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.charts.charts_server import charts_server
from holdfast.tools.corpus.corpus_retrieval import PassageStore
from holdfast.tools.corpus.corpus_server import corpus_server
from holdfast.tools.holdfast_toml import check_toml_tables
from holdfast.tools.mcp.tool_server import BuiltinServer
from holdfast.tools.network_setup import open_web_resources, open_wikipedia_client
from holdfast.tools.python.python_server import python_server
from holdfast.tools.python.python_settings import open_python_runners
from holdfast.tools.tables.table_folder import read_table_folder
from holdfast.tools.tables.tables_server import tables_server
from holdfast.tools.web.web_server import WEB_CONCURRENCY, web_server
from holdfast.tools.web.web_settings import read_web_settings, read_wikipedia_settings
from holdfast.tools.wikipedia.wikipedia_server import wikipedia_server


@asynccontextmanager
async def open_builtin_servers(
    settings: Settings, store: PassageStore
) -> AsyncIterator[Mapping[str, BuiltinServer]]:
    """Yield the servers by name; close their resources at the end of the block.

    Raises:
        BadConfiguration: a table of the file is wrong; the message has an example.
    """
    if settings.config_file is not None:
        check_toml_tables(settings.config_file)
    async with AsyncExitStack() as stack:
        embedder = await stack.enter_async_context(open_embedder(settings))
        corpus = BuiltinServer(corpus_server(store, embedder), {"collection": "collection"})
        computing = await _local_servers(stack, settings.config_file)
        reaching = await _network_servers(stack, settings.config_file)
        yield {"corpus": corpus, **computing, **reaching}


def unconnected_corpus() -> CorpusStore:
    """Return a corpus server that only lists its tools and opens no connection."""
    return CorpusStore(Database("postgresql+psycopg://"))


async def _local_servers(stack: AsyncExitStack, path: Path | None) -> dict[str, BuiltinServer]:
    """Return the servers that compute on the data of a job; the data stay on this machine."""
    servers = {"charts": BuiltinServer(charts_server(), concurrency=4, timeout_s=60)}
    if table_folder := read_table_folder(path):
        servers["tables"] = BuiltinServer(tables_server(table_folder), concurrency=4, timeout_s=60)
    python = await stack.enter_async_context(open_python_runners(path))
    if python is not None:
        servers["python"] = BuiltinServer(python_server(*python), concurrency=4, timeout_s=90)
    return servers


async def _network_servers(stack: AsyncExitStack, path: Path | None) -> dict[str, BuiltinServer]:
    """Return the servers that use the network; only those enabled in the file."""
    servers: dict[str, BuiltinServer] = {}
    if web := read_web_settings(path):
        parts = await stack.enter_async_context(open_web_resources(web, os.environ))
        server = web_server(parts.fetcher, parts.search)
        secrets = parts.search.secrets if parts.search else ()
        servers["web"] = BuiltinServer(
            server, {"fresh": "fresh"}, concurrency=WEB_CONCURRENCY, secrets=secrets
        )
    if wikipedia := read_wikipedia_settings(path):
        wiki = await stack.enter_async_context(open_wikipedia_client(wikipedia))
        bound = {"job": "job", "fresh": "fresh"}
        servers["wikipedia"] = BuiltinServer(wikipedia_server(wiki), bound)
    return servers
