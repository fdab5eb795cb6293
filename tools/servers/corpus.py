"""The built-in MCP server `corpus`: search and read the documents of the job's collection."""

from typing import Annotated

from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

from models.base import Frozen
from models.corpus import MetadataFilter, SearchMode
from models.errors import DocumentGone, NotFound
from tools.corpus_finding import CorpusPassage, Finding, PassageStore, QueryEmbedder
from tools.marks import READS
from tools.servers.saying import SayingServer

_SAFE = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False
)

Collection = Annotated[str, Field(description="The collection of documents to look in.")]
Query = Annotated[
    str,
    Field(description="A question or the words to look for; names and rare words find the most."),
]
Limit = Annotated[int, Field(description="How many passages at most.", ge=1, le=20)]
Mode = Annotated[
    SearchMode | None,
    Field(
        description="keyword, semantic, or hybrid (both); left out, hybrid where it is possible."
    ),
]
Filter = Annotated[
    MetadataFilter | None,
    Field(
        description="Only documents that say this of themselves: a value, a list of values, or a "
        'range of dates, such as {"kind": ["pdf", "docx"], "date": {"from": "2020", "to": '
        '"2021-06"}}. Keys are kind, date, modified, author, and what the documents bring.',
        max_length=10,
    ),
]
Address = Annotated[
    str, Field(description="The document's address, as `address` in a passage that was found.")
]


class CorpusPassages(Frozen):
    """What both tools answer."""

    passages: tuple[CorpusPassage, ...]
    note: str = ""
    """What the search could not do, if anything."""


def corpus_server(store: PassageStore, embedder: QueryEmbedder | None = None) -> MCPServer:
    """An MCP server over the store; configure logging first, else MCPServer does it its way."""
    server = SayingServer("corpus")
    finding = Finding(store, embedder)

    @server.tool(annotations=_SAFE)
    async def search(
        query: Query,
        collection: Collection,
        limit: Limit = 6,
        mode: Mode = None,
        filter: Filter = None,  # noqa: A002 - the name that models expect
    ) -> CorpusPassages:
        """Finds the passages of the local documents that best match a question or some words.

        Gives each passage verbatim with its document's address and title; none if nothing matches.
        """
        found = await finding.find(collection, query, limit, mode=mode, where=filter or {})
        passages = tuple(CorpusPassage.of(passage, score) for passage, score in found.hits)
        return CorpusPassages(passages=passages, note=found.note)

    @server.tool(annotations=_SAFE, meta={READS: "document"})
    async def read(document: Address, collection: Collection) -> CorpusPassages:
        """Gives the whole text of one local document, passage by passage, from start to end.

        Takes the address that `search` gave; use it when a few passages are not enough.
        """
        try:
            found = await store.read(collection, document)
        except NotFound as unknown:
            raise DocumentGone(str(unknown)) from unknown
        return CorpusPassages(passages=tuple(CorpusPassage.of(passage) for passage in found))

    return server
