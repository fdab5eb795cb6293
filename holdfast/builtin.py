"""The MCP servers that come with Holdfast, as this installation's `holdfast.toml` has them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from holdfast.settings import Settings
from tools.hub import BuiltinServer
from tools.python.table import python_parts
from tools.servers.charts import charts_server
from tools.servers.corpus import PassageStore, corpus_server
from tools.servers.python import python_server
from tools.servers.tables import tables_server
from tools.tables.shelf import read_shelf


@asynccontextmanager
async def builtin_servers(
    settings: Settings, store: PassageStore
) -> AsyncIterator[Mapping[str, BuiltinServer]]:
    """The servers by name; what they hold open is closed on leaving.

    Raises:
        BadConfiguration: a table of the file is not right; says what to write.
    """
    servers = {
        "corpus": BuiltinServer(corpus_server(store), {"collection": "collection"}),
        "charts": BuiltinServer(charts_server(), concurrency=4, timeout_s=60),
    }
    if shelf := read_shelf(settings.config_file):
        servers["tables"] = BuiltinServer(tables_server(shelf), concurrency=4, timeout_s=60)
    async with python_parts(settings.config_file) as python:
        if python is not None:
            servers["python"] = BuiltinServer(python_server(*python), concurrency=4, timeout_s=90)
        yield servers
