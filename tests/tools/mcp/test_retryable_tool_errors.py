"""Tests for tool errors that declare that a retry may help."""

from datetime import timedelta

import pytest
from mcp.server import MCPServer
from mcp.types import CallToolResult, TextContent

from holdfast.models.errors import ToolBusy, ToolFailed
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.corpus.corpus_server import corpus_server
from holdfast.tools.mcp.answers.error_results import PASSING_KEY
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import BuiltinServer

_TIMEOUT = timedelta(seconds=10)


def archive(meta: dict[str, object] | None) -> Hub:
    """A server whose one tool answers with an error that carries this."""
    server = MCPServer("archive")

    @server.tool()
    def look() -> CallToolResult:
        said = [TextContent(type="text", text="closed for a minute")]
        return CallToolResult(content=said, is_error=True, _meta=meta)

    return Hub({}, {"archive": BuiltinServer(server)})


async def test_an_error_that_says_it_passes_is_tried_again() -> None:
    async with archive({PASSING_KEY: True}) as hub:
        with pytest.raises(ToolBusy, match=r"archive\.look .*closed for a minute"):
            await hub.call("archive.look", {}, timeout=_TIMEOUT)


@pytest.mark.parametrize("meta", [None, {}, {PASSING_KEY: False}, {PASSING_KEY: "yes"}])
async def test_any_other_error_is_final(meta: dict[str, object] | None) -> None:
    async with archive(meta) as hub:
        with pytest.raises(ToolFailed, match="closed for a minute"):
            await hub.call("archive.look", {}, timeout=_TIMEOUT)


@pytest.mark.parametrize(
    ("tool", "arguments"), [("search", {"query": "x"}), ("read", {"document": "a.md"})]
)
async def test_the_corpus_passes_while_postgresql_is_away(
    tool: str, arguments: dict[str, str]
) -> None:
    database = Database("postgresql+psycopg://nobody@/none?host=/nowhere")
    corpus = BuiltinServer(corpus_server(CorpusStore(database)), {"collection": "collection"})
    facts = {"collection": "lights"}

    async with Hub({}, {"corpus": corpus}) as hub:
        with pytest.raises(ToolBusy, match="PostgreSQL does not answer"):
            await hub.call(f"corpus.{tool}", arguments, timeout=_TIMEOUT, facts=facts)
    await database.close()
