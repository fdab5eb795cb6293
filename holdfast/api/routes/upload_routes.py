"""Define the routes that send documents to a collection, and say how far their reading is."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile

from holdfast.api.api_context import Asker, CallerSession, Reader
from holdfast.api.owned_collections import OwnedCollections
from holdfast.corpus.uploads.upload_acceptance import SentFile, UploadRequest, accept_upload
from holdfast.models.corpus.document_uploads import MAX_LISTED_UPLOADS, DocumentUpload
from holdfast.models.corpus.search_language import SearchLanguage, search_language
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput
from holdfast.storage.corpus.upload_rows import load_newest_uploads, load_upload

MAX_FILES = 1000
_MAX_FIELDS = 10
_METADATA: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])
_WORDS = {"true": True, "false": False, "": False}
_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": MAX_FILES,
                            "items": {"type": "string", "format": "binary"},
                            "description": "The documents; `filename` may be a path with /.",
                        },
                        "metadata": {
                            "type": "string",
                            "description": 'A JSON object such as {"kind": "minutes"}.',
                        },
                        "language": {
                            "type": "string",
                            "enum": [*SearchLanguage, ""],
                            "description": "The language of the words of the whole collection; "
                            "empty: as it is.",
                        },
                        "replace": {
                            "type": "string",
                            "enum": [*_WORDS],
                            "description": "Whether every other document is removed; empty: no.",
                        },
                    },
                }
            }
        },
    }
}

router = APIRouter(tags=["collections"])


@router.post("/collections/{collection:path}/documents", status_code=202, openapi_extra=_FORM)
async def upload_documents(
    session: Asker, collection: str, request: Request, response: Response
) -> DocumentUpload:
    """Send documents; they are read in the background, and `Location` says how far they are."""
    with error_field("collection"):
        name = OwnedCollections(session.caller).writable_name(collection)
    async with _form(request) as form:
        upload = await accept_upload(
            session.context.uploads,
            UploadRequest(
                owner=session.caller.owner,
                collection=name,
                files=_files(form),
                metadata=_metadata(form),
                replaces_collection=_is_replacing(form),
                language=_language(form),
            ),
        )
    response.headers["Location"] = f"/v1/uploads/{upload.id}"
    return _shown(session, upload)


@router.get("/uploads")
async def list_uploads(
    session: Reader, limit: Annotated[int, Query(ge=1, le=MAX_LISTED_UPLOADS)] = 20
) -> list[DocumentUpload]:
    """The uploads, the newest first."""
    owner = session.caller.visible_owner
    uploads = await load_newest_uploads(session.holdfast.db, owner=owner, limit=limit)
    return [_shown(session, upload) for upload in uploads]


@router.get("/uploads/{upload}")
async def show_upload(session: Reader, upload: str) -> DocumentUpload:
    """How far an upload is, and what came of it."""
    owner = session.caller.visible_owner
    return _shown(session, await load_upload(session.holdfast.db, upload, owner=owner))


def _shown(session: CallerSession, upload: DocumentUpload) -> DocumentUpload:
    name = OwnedCollections(session.caller).shown_name(upload.collection)
    return upload.model_copy(update={"collection": name})


@asynccontextmanager
async def _form(request: Request) -> AsyncIterator[FormData]:
    # Read here and not by FastAPI, which would read the files of a sender without a key.
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise BadInput(
            "send the documents as multipart/form-data, each in a field `files`", field="files"
        )
    async with request.form(max_files=MAX_FILES, max_fields=_MAX_FIELDS) as form:
        unknown = set(form) - {"files", "metadata", "language", "replace"}
        if unknown:
            named = ", ".join(sorted(repr(name[:40]) for name in unknown))
            raise BadInput(
                f"the form has unknown fields: {named}; use files, metadata, language, replace",
                field=min(unknown)[:40],
            )
        yield form


def _files(form: FormData) -> list[SentFile]:
    parts = form.getlist("files")
    if not all(isinstance(part, UploadFile) for part in parts):
        raise BadInput("each field `files` is a file; send it with a `filename`", field="files")
    return [
        SentFile(part.filename or "", part.file, part.size or 0)
        for part in parts
        if isinstance(part, UploadFile)
    ]


def _metadata(form: FormData) -> dict[str, str]:
    try:
        return _METADATA.validate_json(_text(form, "metadata") or "{}")
    except ValidationError as error:
        raise BadInput(
            'metadata is a JSON object of texts, such as {"kind": "minutes"}', field="metadata"
        ) from error


def _is_replacing(form: FormData) -> bool:
    word = _text(form, "replace")
    if word not in _WORDS:
        raise BadInput(f"replace is true or false, not {word[:40]!r}", field="replace")
    return _WORDS[word]


def _language(form: FormData) -> SearchLanguage | None:
    word = _text(form, "language")
    with error_field("language"):
        return search_language(word) if word else None


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    if not isinstance(value, str):
        raise BadInput(f"the field {name!r} is a text, not a file", field=name)
    return value
