"""Read uploads into their collections, one after the other, also those of a killed server.

What must be read is what lies in the staging folder, so the queue has no memory of its own: it
looks there when it begins, when an upload comes, and every few seconds.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from holdfast.corpus.corpus_update import add_documents
from holdfast.corpus.folder_ingestion import IngestOptions, IngestResult
from holdfast.corpus.passage_embedding import EmbeddingResult
from holdfast.corpus.uploads.upload_staging import UploadStaging, is_abandoned
from holdfast.models.corpus.document_uploads import (
    DocumentUpload,
    SkippedFile,
    UploadProgress,
    UploadResult,
)
from holdfast.models.errors import HoldfastError, NotFound, StorageAway
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.upload_rows import end_upload, load_upload, note_upload_progress

log = structlog.get_logger(__name__)

_LOOK_EVERY_S = 10.0
_NOTE_EVERY_S = 1.0


@dataclass
class UploadQueue:
    """Reads the uploads of one home folder."""

    settings: Settings
    db: Database
    _has_new: asyncio.Event = field(default_factory=asyncio.Event)
    _reading: asyncio.Task[None] | None = None

    @property
    def staging(self) -> UploadStaging:
        return UploadStaging(self.settings.home)

    def start(self) -> None:
        """Begin with what a killed server left."""
        self._reading = asyncio.create_task(self._read_all())

    def notice(self) -> None:
        """Look for new uploads now."""
        self._has_new.set()

    async def stop(self) -> None:
        """Stop; the next server goes on with what was not read."""
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading

    async def _read_all(self) -> None:
        while True:
            self._has_new.clear()
            for upload_id in await asyncio.to_thread(self.staging.stored_ids):
                try:
                    await self._read_claimed(upload_id)
                except StorageAway:
                    break
                except Exception:
                    log.exception("upload.failed", upload=upload_id)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._has_new.wait(), _LOOK_EVERY_S)

    async def _read_claimed(self, upload_id: str) -> None:
        with self.staging.claimed(upload_id) as is_ours:
            if not is_ours:
                return
            try:
                upload = await load_upload(self.db, upload_id)
            except NotFound:
                # Its row is not stored yet, or its server was killed before that.
                if await asyncio.to_thread(is_abandoned, self.staging.folder_of(upload_id)):
                    self.staging.remove(upload_id)
                return
            if not upload.status.is_final:
                await self._read(upload)
            await asyncio.to_thread(self.staging.remove, upload_id)

    async def _read(self, upload: DocumentUpload) -> None:
        folder = self.staging.folder_of(upload.id)
        result, message = None, ""
        try:
            async with _NotedProgress(self.db, upload.id) as noted:
                options = IngestOptions(
                    metadata=upload.metadata,
                    replaces_collection=upload.replaces_collection,
                    language=upload.language,
                    tell=noted.tell,
                    origin=f"upload {upload.id}",
                )
                result = _result(
                    *await add_documents(self.settings, self.db, folder, upload.collection, options)
                )
        except StorageAway:
            raise
        except HoldfastError as error:
            message = _without_folder(str(error), folder)
        except Exception:
            log.exception("upload.failed", upload=upload.id)
            message = "the documents could not be read; the server's log says why"
        await end_upload(self.db, upload.id, result=result, message=message)


class _NotedProgress:
    """Stores the newest progress once a second while it changes."""

    def __init__(self, db: Database, upload_id: str) -> None:
        self._db = db
        self._upload_id = upload_id
        self._newest = UploadProgress()

    def tell(self, activity: str, done: int, total: int) -> None:
        self._newest = UploadProgress(activity=activity, done=done, total=total)

    async def __aenter__(self) -> "_NotedProgress":
        await note_upload_progress(self._db, self._upload_id, self._newest)
        self._noting = asyncio.create_task(self._note())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._noting.cancel()
        with suppress(asyncio.CancelledError):
            await self._noting
        with suppress(StorageAway):
            await note_upload_progress(self._db, self._upload_id, self._newest)

    async def _note(self) -> None:
        noted = self._newest
        while True:
            await asyncio.sleep(_NOTE_EVERY_S)
            if self._newest != noted:
                noted = self._newest
                with suppress(StorageAway):
                    await note_upload_progress(self._db, self._upload_id, noted)


def _result(ingested: IngestResult, embedded: EmbeddingResult | None) -> UploadResult:
    return UploadResult(
        added=ingested.added,
        changed=ingested.changed,
        unchanged=ingested.unchanged,
        removed=ingested.removed,
        skipped=tuple(SkippedFile(path=path, reason=why) for path, why in ingested.skipped),
        embedded=embedded.embedded if embedded else 0,
        without_vector=embedded.left if embedded else 0,
        fault=embedded.fault if embedded else "",
    )


def _without_folder(message: str, folder: Path) -> str:
    """The message without the server's folder, which the sender does not know."""
    return message.replace(repr(str(folder)), "the upload").replace(str(folder), "the upload")
