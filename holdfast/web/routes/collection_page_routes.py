"""Define the pages of collections: their documents, uploads, searches and removals."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request, Response
from starlette.responses import RedirectResponse

from holdfast.api.owned_collections import OwnedCollections
from holdfast.api.routes.upload_routes import list_uploads, upload_documents
from holdfast.corpus.collection_lookup import list_collections, list_documents, search_collection
from holdfast.corpus.collection_removal import remove_documents
from holdfast.models.corpus.search_language import SearchLanguage
from holdfast.web.access.page_session import PageAsker, PageReader
from holdfast.web.page_route import PageRoute
from holdfast.web.rendering.page_templates import page

_MOST_DOCUMENTS = 500
_HITS = 10
_UPLOADS = 8

router = APIRouter(route_class=PageRoute)


@router.get("/collections")
async def show_collections(session: PageReader, request: Request) -> Response:
    """The collections, and how far the reading of new documents is."""
    lines = OwnedCollections(session.caller).visible(await list_collections(session.holdfast))
    uploads = await list_uploads(session, _UPLOADS)
    return page(request, "collections", collections=lines, uploads=uploads)


@router.post("/collections")
async def open_collection(session: PageAsker, name: Annotated[str, Form()] = "") -> Response:
    """Go to the page of a collection, which may be new."""
    OwnedCollections(session.caller).writable_name(name.strip())
    return RedirectResponse(f"/collections/{quote(name.strip(), safe='/')}", 303)


@router.get("/collections/{collection:path}")
async def show_collection(
    session: PageReader,
    request: Request,
    collection: str,
    q: Annotated[str, Query(max_length=2000)] = "",
) -> Response:
    """The documents of a collection, and what a search of jobs finds in it."""
    name = OwnedCollections(session.caller).readable_name(collection)
    lines = await list_collections(session.holdfast)
    line = next((each for each in lines if each.name == name), None)
    documents = await list_documents(session.holdfast, name) if line else []
    found = None
    if line and q.strip():
        found = await search_collection(session.holdfast, name, q, limit=_HITS)
    uploads = [
        each for each in await list_uploads(session, _UPLOADS) if each.collection == collection
    ]
    return page(
        request, "collection", name=collection, line=line, documents=documents[:_MOST_DOCUMENTS],
        left_out=max(0, len(documents) - _MOST_DOCUMENTS), words=q, found=found, uploads=uploads,
        languages=[*SearchLanguage],
    )  # fmt: skip


@router.post("/collections/{collection:path}/documents")
async def upload_from_page(session: PageAsker, request: Request, collection: str) -> Response:
    """Add documents, which are read in the background."""
    await upload_documents(session, collection, request, Response())
    return RedirectResponse(f"/collections/{quote(collection, safe='/')}", 303)


@router.post("/collections/{collection:path}/removal")
async def remove_from_page(
    session: PageAsker, collection: str, address: Annotated[str, Form()] = ""
) -> Response:
    """Remove one document, or all; jobs keep what they found in them."""
    name = OwnedCollections(session.caller).writable_name(collection)
    await remove_documents(session.holdfast, name, address or None)
    target = f"/collections/{quote(collection, safe='/')}" if address else "/collections"
    return RedirectResponse(target, 303)
