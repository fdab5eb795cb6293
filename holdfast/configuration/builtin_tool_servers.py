"""Open the built-in MCP servers that `holdfast.toml` enables."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from holdfast.configuration.embedding_settings import open_embedder
from holdfast.configuration.rerank_settings import open_reranker
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.corpus.corpus_retrieval import PassageStore
from holdfast.tools.corpus.corpus_server import corpus_server
from holdfast.tools.holdfast_toml import check_toml_tables
from holdfast.tools.mcp.private_jobs import ClosedServer
from holdfast.tools.mcp.server_config import read_servers
from holdfast.tools.mcp.tool_server import BuiltinServer, MissingServer
from holdfast.tools.optional_parts import OptionalPart, is_installed, require_part
from holdfast.tools.private_job_settings import TABLE, read_private_job_settings
from holdfast.tools.python.python_settings import open_python_runners, read_python_settings
from holdfast.tools.sandbox.process_slots import ProcessSlots, process_slots
from holdfast.tools.tables.table_folder import read_table_folder
from holdfast.tools.web.http_client.host_patterns import HostPatterns
from holdfast.tools.web.web_settings import (
    WebSettings,
    WikipediaSettings,
    read_web_settings,
    read_wikipedia_settings,
)


@asynccontextmanager
async def open_builtin_servers(
    settings: Settings, store: PassageStore
) -> AsyncIterator[Mapping[str, BuiltinServer | MissingServer]]:
    """Yield the servers by name; close their resources at the end of the block.

    Of the servers that are on by default, those without their optional part are missing.

    Raises:
        BadConfiguration: a table of the file is wrong; the message has an example.
        PartMissing: a table turns on a server whose optional part is not installed.
    """
    if settings.config_file is not None:
        check_toml_tables(settings.config_file)
    async with AsyncExitStack() as stack:
        embedder = await stack.enter_async_context(open_embedder(settings))
        reranker = await stack.enter_async_context(open_reranker(settings.config_file))
        corpus = BuiltinServer(
            corpus_server(store, embedder, reranker), {"collection": "collection"}
        )
        slots = process_slots()
        computing = await _local_servers(stack, settings.config_file, slots)
        reaching = await _network_servers(stack, settings.config_file, slots)
        yield {"corpus": corpus, **computing, **reaching}


def unconnected_corpus() -> CorpusStore:
    """Return a corpus server that only lists its tools and opens no connection."""
    return CorpusStore(Database("postgresql+psycopg://"))


async def _local_servers(
    stack: AsyncExitStack, path: Path | None, slots: ProcessSlots
) -> dict[str, BuiltinServer | MissingServer]:
    """Return the servers that compute on the data of a job; the data stay on this machine."""
    servers = {"charts": _charts_server()}
    if tables := _tables_server(path, slots):
        servers["tables"] = tables
    if python := await _python_server(stack, path, slots):
        servers["python"] = python
    return servers


# The modules of a server are imported where it is opened, because they import its optional part.


def _charts_server() -> BuiltinServer | MissingServer:
    if not is_installed(OptionalPart.CHARTS):
        return MissingServer(OptionalPart.CHARTS, "drawing charts")
    from holdfast.tools.charts.charts_server import charts_server

    return BuiltinServer(charts_server(), concurrency=4, timeout_s=60)


def _tables_server(path: Path | None, slots: ProcessSlots) -> BuiltinServer | None:
    folder = read_table_folder(path)
    if folder is None:
        return None
    require_part(OptionalPart.TABLES, f"{path}: the table [tables]")
    from holdfast.tools.tables.tables_server import tables_server

    return BuiltinServer(
        tables_server(folder, slots=slots), concurrency=4, timeout_s=60, is_private=True
    )


async def _python_server(
    stack: AsyncExitStack, path: Path | None, slots: ProcessSlots
) -> BuiltinServer | MissingServer | None:
    table = read_python_settings(path)
    if table is None and not is_installed(OptionalPart.PYTHON):
        return MissingServer(OptionalPart.PYTHON, "running Python code")
    if table is not None and table.enabled:
        require_part(OptionalPart.PYTHON, f"{path}: the table [python]")
    runners = await stack.enter_async_context(open_python_runners(path, slots))
    if runners is None:
        return None
    from holdfast.tools.python.python_server import python_server

    return BuiltinServer(python_server(*runners), concurrency=4, timeout_s=90)


async def _network_servers(
    stack: AsyncExitStack, path: Path | None, slots: ProcessSlots
) -> dict[str, BuiltinServer]:
    """Return the servers that use the network; only those enabled in the file."""
    servers: dict[str, BuiltinServer] = {}
    own = read_servers(path) if path else {}
    hosts = HostPatterns.of(read_private_job_settings(path, own).allowed_hosts)
    if web := read_web_settings(path):
        require_part(OptionalPart.WEB, f"{path}: the table [web]")
        servers["web"] = await _web_server(stack, web, hosts, slots)
    if wikipedia := read_wikipedia_settings(path):
        require_part(OptionalPart.WEB, f"{path}: the table [wikipedia]")
        servers["wikipedia"] = await _wikipedia_server(stack, wikipedia, hosts, slots)
    return servers


async def _web_server(
    stack: AsyncExitStack, table: WebSettings, private_hosts: HostPatterns, slots: ProcessSlots
) -> BuiltinServer:
    from holdfast.tools.network_setup import WebResources, open_web_resources
    from holdfast.tools.web.web_server import WEB_CONCURRENCY, web_server

    everywhere, in_private_jobs = await stack.enter_async_context(
        open_web_resources(table, os.environ, private_hosts=private_hosts, slots=slots)
    )
    secrets = everywhere.search.secrets if everywhere.search else ()

    def server(parts: WebResources) -> BuiltinServer:
        return BuiltinServer(
            web_server(parts.fetcher, parts.search),
            {"fresh": "fresh"},
            concurrency=WEB_CONCURRENCY,
            secrets=secrets,
        )

    if not private_hosts:
        variant: BuiltinServer | ClosedServer = ClosedServer(f"no host is allowed. {_add('hosts')}")
    elif everywhere.search and in_private_jobs.search is None:
        named = " or ".join(sorted(everywhere.search.hosts))
        reason = (
            f"this job may read private documents, and no search service is allowed. {_add(named)}"
        )
        variant = replace(server(in_private_jobs), closed_tools={"search": reason})
    else:
        variant = server(in_private_jobs)
    return replace(server(everywhere), in_private_jobs=variant)


def _add(hosts: str) -> str:
    return (
        f"Go on without it; the operator may add {hosts} to allowed_hosts under [{TABLE}] in "
        "holdfast.toml"
    )


async def _wikipedia_server(
    stack: AsyncExitStack,
    table: WikipediaSettings,
    private_hosts: HostPatterns,
    slots: ProcessSlots,
) -> BuiltinServer:
    from holdfast.tools.network_setup import open_wikipedia_client
    from holdfast.tools.wikipedia.wikipedia_server import wikipedia_server

    wiki = await stack.enter_async_context(open_wikipedia_client(table, slots))
    server = BuiltinServer(wikipedia_server(wiki), {"job": "job", "fresh": "fresh"})
    host, port = wiki.host_and_port
    if private_hosts.matches(host, port):
        return replace(server, in_private_jobs=server)
    closed = ClosedServer(f"{host!r} is not allowed. {_add(host)}")
    return replace(server, in_private_jobs=closed)
