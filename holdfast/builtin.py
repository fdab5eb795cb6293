"""The MCP servers that come with Holdfast, as this installation's `holdfast.toml` has them."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from holdfast.embeddings import opened_embedder
from holdfast.settings import Settings
from storage.corpus import Corpus
from storage.database import Database
from tools.corpus_finding import PassageStore
from tools.place import BuiltinServer
from tools.python.table import python_parts
from tools.servers.charts import charts_server
from tools.servers.corpus import corpus_server
from tools.servers.python import python_server
from tools.servers.tables import tables_server
from tools.servers.web import AT_ONCE, web_server
from tools.servers.wikipedia import wikipedia_server
from tools.tables.shelf import read_shelf
from tools.toml import check_tables
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
    if settings.config_file is not None:
        check_tables(settings.config_file)
    async with AsyncExitStack() as stack:
        embedder = await stack.enter_async_context(opened_embedder(settings))
        corpus = BuiltinServer(corpus_server(store, embedder), {"collection": "collection"})
        computing = await _computing(stack, settings.config_file)
        reaching = await _reaching(stack, settings.config_file)
        yield {"corpus": corpus, **computing, **reaching}


def unread_corpus() -> Corpus:
    """The corpus as a list of tools needs it: no connection is made, as nothing is read."""
    return Corpus(Database("postgresql+psycopg://"))


async def _computing(stack: AsyncExitStack, path: Path | None) -> dict[str, BuiltinServer]:
    """What works on data that a job has: nothing of it leaves this machine."""
    servers = {"charts": BuiltinServer(charts_server(), concurrency=4, timeout_s=60)}
    if shelf := read_shelf(path):
        servers["tables"] = BuiltinServer(tables_server(shelf), concurrency=4, timeout_s=60)
    python = await stack.enter_async_context(python_parts(path))
    if python is not None:
        servers["python"] = BuiltinServer(python_server(*python), concurrency=4, timeout_s=90)
    return servers


async def _reaching(stack: AsyncExitStack, path: Path | None) -> dict[str, BuiltinServer]:
    """What asks others over the network: only where the file says so."""
    servers: dict[str, BuiltinServer] = {}
    if web := read_web(path):
        parts = await stack.enter_async_context(opened_web(web, os.environ))
        server = web_server(parts.fetcher, parts.search)
        secrets = parts.search.secrets if parts.search else ()
        servers["web"] = BuiltinServer(
            server, {"fresh": "fresh"}, concurrency=AT_ONCE, secrets=secrets
        )
    if wikipedia := read_wikipedia(path):
        wiki = await stack.enter_async_context(opened_wiki(wikipedia))
        bound = {"job": "job", "fresh": "fresh"}
        servers["wikipedia"] = BuiltinServer(wikipedia_server(wiki), bound)
    return servers
