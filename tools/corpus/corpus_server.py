"""Define the built-in MCP server `corpus`: search and read the job's document collection."""

from typing import Annotated

from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

from holdfast.models.corpus.search_criteria import MetadataFilter
from holdfast.models.corpus.search_mode import SearchMode
from holdfast.models.errors import DocumentGone, NotFound
from holdfast.models.frozen_model import Frozen
from holdfast.tools.corpus.corpus_retrieval import (
    CorpusPassage,
    CorpusRetrieval,
    PassageReranker,
    PassageStore,
    QueryEmbedder,
)
from holdfast.tools.mcp.error_reporting import ErrorReportingServer
from holdfast.tools.mcp.meta_keys import READS_KEY

_SAFE = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False
)

CollectionName = Annotated[str, Field(description="The collection of documents to look in.")]
QueryText = Annotated[
    str,
    Field(description="A question or the words to look for; names and rare words find the most."),
]
PassageLimit = Annotated[int, Field(description="How many passages at most.", ge=1, le=20)]
SearchModeChoice = Annotated[
    SearchMode | None,
    Field(
        description="keyword, semantic, or hybrid (both); left out, hybrid where it is possible."
    ),
]
DocumentFilter = Annotated[
    MetadataFilter | None,
    Field(
        description="Only documents that say this of themselves: a value, a list of values, or a "
        'range of dates, such as {"kind": ["pdf", "docx"], "date": {"from": "2020", "to": '
        '"2021-06"}}. Keys are kind, date, modified, author, and what the documents bring.',
        max_length=10,
    ),
]
DocumentAddress = Annotated[
    str, Field(description="The document's address, as `address` in a passage that was found.")
]


class CorpusPassages(Frozen):
    """What both tools answer."""

    passages: tuple[CorpusPassage, ...]
    note: str = ""
    """Restrictions of the search, and words that no passage has; empty if there are none."""


def corpus_server(
    store: PassageStore,
    embedder: QueryEmbedder | None = None,
    reranker: PassageReranker | None = None,
) -> MCPServer:
    """Return the MCP server `corpus`; configure logging first, else MCPServer configures it."""
    server = ErrorReportingServer("corpus")
    finding = CorpusRetrieval(store, embedder, reranker)

    @server.tool(annotations=_SAFE)
    async def search(
        query: QueryText,
        collection: CollectionName,
        limit: PassageLimit = 6,
        mode: SearchModeChoice = None,
        filter: DocumentFilter = None,  # noqa: A002 - the name that models expect
    ) -> CorpusPassages:
        """Finds the passages of the local documents that best match a question or some words.

        Gives each passage verbatim with its document's address and title; none if nothing matches.
        """
        result = await finding.find(collection, query, limit, mode=mode, where=filter or {})
        passages = tuple(CorpusPassage.of(passage, score) for passage, score in result.hits)
        return CorpusPassages(passages=passages, note=result.note)

    @server.tool(annotations=_SAFE, meta={READS_KEY: "document"})
    async def read(document: DocumentAddress, collection: CollectionName) -> CorpusPassages:
        """Gives the whole text of one local document, passage by passage, from start to end.

        Takes the address that `search` gave; use it when a few passages are not enough.
        """
        try:
            passages = await store.read(collection, document)
        except NotFound as unknown:
            raise DocumentGone(str(unknown)) from unknown
        return CorpusPassages(passages=tuple(CorpusPassage.of(passage) for passage in passages))

    return server
