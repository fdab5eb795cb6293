"""Define the routes of collections of documents."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from holdfast.api.api_context import Asker, CallerSession, Reader
from holdfast.api.owned_collections import OwnedCollections
from holdfast.corpus.collection_lookup import (
    SearchListing,
    list_collections,
    list_documents,
    search_collection,
)
from holdfast.corpus.collection_removal import remove_documents
from holdfast.models.corpus.search_criteria import MetadataFilter
from holdfast.models.corpus.search_mode import SearchMode
from holdfast.models.error_fields import error_field
from holdfast.models.frozen_model import Frozen
from holdfast.models.views.collection_views import CollectionLine, DocumentLine

router = APIRouter(prefix="/collections", tags=["collections"])


class SearchBody(Frozen):
    """A search, as jobs search."""

    query: str = Field(min_length=1, max_length=2000)
    mode: SearchMode | None = Field(
        default=None, description="By default hybrid if there are vectors."
    )
    limit: int = Field(default=6, strict=True, ge=1, le=50)
    where: MetadataFilter = Field(
        default_factory=dict, description="Only documents with this metadata."
    )


class RemovedDocuments(Frozen):
    """How many documents were removed; jobs keep what they found in them."""

    collection: str
    removed: int


@router.get("")
async def list_all(session: Reader) -> list[CollectionLine]:
    """The collections by name, with counts, sizes and dates."""
    lines = await list_collections(session.holdfast)
    return OwnedCollections(session.caller).visible(lines)


@router.get("/{collection:path}/documents")
async def list_collection(session: Reader, collection: str) -> list[DocumentLine]:
    """The documents of a collection by address."""
    name = await _existing(session, collection)
    return await list_documents(session.holdfast, name)


@router.post("/{collection:path}/search")
async def search(session: Reader, collection: str, body: SearchBody) -> SearchListing:
    """Search a collection as jobs do."""
    name = await _existing(session, collection)
    listing = await search_collection(
        session.holdfast, name, body.query, limit=body.limit, mode=body.mode, where=body.where
    )
    return listing.model_copy(update={"collection": collection})


@router.delete("/{collection:path}/documents")
async def remove(
    session: Asker,
    collection: str,
    address: Annotated[str | None, Query(description="One document; all if left out.")] = None,
) -> RemovedDocuments:
    """Remove one document, or the whole collection; jobs keep what they found in it."""
    name = await _existing(session, collection, reads=False)
    removed = await remove_documents(session.holdfast, name, address, shown=collection)
    return RemovedDocuments(collection=collection, removed=removed)


async def _existing(session: CallerSession, collection: str, *, reads: bool = True) -> str:
    owned = OwnedCollections(session.caller)
    with error_field("collection"):
        return await owned.existing_name(session.holdfast.db, collection, reads=reads)
