"""Accept the files of an upload: check them, keep them, and let the queue read them."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import BinaryIO
from uuid import uuid4

from holdfast.corpus.uploads.upload_paths import checked_upload_paths
from holdfast.corpus.uploads.upload_queue import UploadQueue
from holdfast.models.corpus.document_uploads import DocumentUpload, UploadStatus
from holdfast.models.corpus.search_language import SearchLanguage
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput
from holdfast.storage.corpus.upload_rows import count_open_uploads, load_upload, store_upload

MAX_OPEN_UPLOADS = 20
_MAX_METADATA = 20
_MAX_METADATA_LENGTH = 500


@dataclass(frozen=True)
class SentFile:
    """A file as its sender named it."""

    name: str
    content: BinaryIO
    size_bytes: int


@dataclass(frozen=True)
class UploadRequest:
    """Files for one collection."""

    owner: str
    collection: str
    files: Sequence[SentFile]
    metadata: Mapping[str, str]
    replaces_collection: bool
    language: SearchLanguage | None = None


async def accept_upload(queue: UploadQueue, request: UploadRequest) -> DocumentUpload:
    """Keep the files and return the upload, which is then read in the background.

    Raises:
        BadInput: there is no file, a path or the metadata cannot be used, or too many uploads of
            the owner wait.
        StorageAway: PostgreSQL does not answer; nothing is kept.
    """
    if not request.files:
        raise BadInput("there is no file; send at least one in the field `files`", field="files")
    with error_field("files"):
        paths = checked_upload_paths([file.name for file in request.files])
    with error_field("metadata"):
        metadata = _checked_metadata(request.metadata)
    if await count_open_uploads(queue.db, request.owner) >= MAX_OPEN_UPLOADS:
        raise BadInput(f"{MAX_OPEN_UPLOADS} uploads wait already; send this one when they are read")
    upload = DocumentUpload(
        id=f"upload-{uuid4().hex[:16]}",
        owner=request.owner,
        collection=request.collection,
        replaces_collection=request.replaces_collection,
        metadata=metadata,
        language=request.language,
        files=len(paths),
        size_bytes=sum(file.size_bytes for file in request.files),
        status=UploadStatus.WAITING,
        created_at=datetime.now(UTC),
    )
    contents = zip(paths, (file.content for file in request.files), strict=True)
    await asyncio.to_thread(queue.staging.store, upload.id, contents)
    try:
        await store_upload(queue.db, upload)
    except BaseException:
        with suppress(OSError):
            queue.staging.remove(upload.id)
        raise
    queue.notice()
    return await load_upload(queue.db, upload.id)


def _checked_metadata(given: Mapping[str, str]) -> dict[str, str]:
    metadata = {key.strip().lower(): value.strip() for key, value in given.items()}
    if not all(metadata) or not all(metadata.values()) or len(metadata) > _MAX_METADATA:
        raise BadInput(f"metadata has at most {_MAX_METADATA} names, each with a value")
    if max(map(len, (*metadata, *metadata.values())), default=0) > _MAX_METADATA_LENGTH:
        raise BadInput(f"a name or a value of metadata has at most {_MAX_METADATA_LENGTH} signs")
    return metadata
