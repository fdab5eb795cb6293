"""The built-in MCP server `corpus`: search and read the documents of the job's collection."""

from collections.abc import Sequence
from typing import Annotated, Any, Protocol

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from models.base import Frozen
from models.errors import NotFound, Passing
from models.tools import ReadPassage, ToldPassage
from tools.passing import gone_error, passing_error
from tools.rereading import READS

_SAFE = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False
)

Collection = Annotated[str, Field(description="The collection of documents to look in.")]
Query = Annotated[
    str,
    Field(description="A question or the words to look for; names and rare words find the most."),
]
Limit = Annotated[int, Field(description="How many passages at most.", ge=1, le=20)]
Address = Annotated[
    str, Field(description="The document's address, as `address` in a passage that was found.")
]


class PassageStore(Protocol):
    """Where the collections lie."""

    async def search(
        self, collection: str, query: str, limit: int
    ) -> Sequence[tuple[ReadPassage, float]]:
        """The best passages with their scores, best first; none where nothing matches."""
        ...

    async def read(self, collection: str, address: str) -> Sequence[ReadPassage]:
        """A document's passages in order.

        Raises:
            NotFound: there is no such document; the message names near ones.
        """
        ...


class CorpusPassage(ToldPassage):
    """A passage, verbatim, with its place; `score` is 0 where nothing was searched for."""

    score: float = 0


class CorpusPassages(Frozen):
    """What both tools answer."""

    passages: tuple[CorpusPassage, ...]


class _CorpusServer(MCPServer):
    """Says of a store that is away that this passes, so that nobody plans around it."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as broken:
            if isinstance(broken.__cause__, Passing):
                return passing_error(str(broken.__cause__))
            raise
        except ToolError as told:
            if isinstance(told.__cause__, NotFound):
                return gone_error(str(told.__cause__))
            raise


def corpus_server(store: PassageStore) -> MCPServer:
    """An MCP server over the store; configure logging first, else MCPServer does it its way."""
    server = _CorpusServer("corpus")

    @server.tool(annotations=_SAFE)
    async def search(query: Query, collection: Collection, limit: Limit = 6) -> CorpusPassages:
        """Finds the passages of the local documents that best match a question or some words.

        Gives each passage verbatim with its document's address and title; none if nothing matches.
        """
        hits = await store.search(collection, query, limit)
        return CorpusPassages(passages=tuple(_passage(found, score) for found, score in hits))

    @server.tool(annotations=_SAFE, meta={READS: "document"})
    async def read(document: Address, collection: Collection) -> CorpusPassages:
        """Gives the whole text of one local document, passage by passage, from start to end.

        Takes the address that `search` gave; use it when a few passages are not enough.
        """
        try:
            found = await store.read(collection, document)
        except NotFound as unknown:
            # Only the text of a ToolError reaches the caller.
            raise ToolError(str(unknown)) from unknown
        return CorpusPassages(passages=tuple(_passage(passage) for passage in found))

    return server


def _passage(passage: ReadPassage, score: float = 0) -> CorpusPassage:
    return CorpusPassage(**passage.model_dump(exclude={"tool", "via"}), score=score)
