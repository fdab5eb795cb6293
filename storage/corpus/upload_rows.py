"""Store, find and list uploads of documents, and record their progress and their end."""

from typing import Any

from sqlalchemy import Row, func, insert, select, update

from holdfast.models.corpus.document_uploads import (
    DocumentUpload,
    UploadProgress,
    UploadResult,
    UploadStatus,
)
from holdfast.models.errors import NotFound
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.upload_tables import document_uploads

_IS_OPEN = document_uploads.c.status.in_([UploadStatus.WAITING, UploadStatus.READING])


async def store_upload(db: Database, upload: DocumentUpload) -> None:
    """Store a new upload."""
    row = upload.model_dump(mode="json", exclude={"created_at", "finished_at", "result"})
    async with db.writing() as connection:
        await connection.execute(insert(document_uploads).values(**row))


async def count_open_uploads(db: Database, owner: str) -> int:
    """Return how many uploads of the owner have not ended."""
    query = select(func.count()).where(document_uploads.c.owner == owner, _IS_OPEN)
    async with db.reading() as connection:
        return (await connection.execute(query)).scalar_one()


async def load_upload(db: Database, upload_id: str, *, owner: str | None = None) -> DocumentUpload:
    """Return the upload; with `owner`, only if it is the owner's.

    Raises:
        NotFound: there is no such upload.
    """
    query = select(document_uploads).where(document_uploads.c.id == upload_id)
    if owner is not None:
        query = query.where(document_uploads.c.owner == owner)
    async with db.reading() as connection:
        row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise NotFound(f"there is no upload {upload_id[:40]!r}; /v1/uploads lists the uploads")
    return _upload(row)


async def load_newest_uploads(
    db: Database, *, owner: str | None = None, limit: int
) -> list[DocumentUpload]:
    """Return the newest uploads, of one owner or of all."""
    newest = (document_uploads.c.created_at.desc(), document_uploads.c.id)
    query = select(document_uploads).order_by(*newest).limit(limit)
    if owner is not None:
        query = query.where(document_uploads.c.owner == owner)
    async with db.reading() as connection:
        return [_upload(row) for row in (await connection.execute(query)).all()]


async def note_upload_progress(db: Database, upload_id: str, progress: UploadProgress) -> None:
    """Record how far an upload is; an upload that has ended stays as it is."""
    statement = update(document_uploads).where(document_uploads.c.id == upload_id, _IS_OPEN)
    values = {"status": UploadStatus.READING, "progress": progress.model_dump(mode="json")}
    async with db.writing() as connection:
        await connection.execute(statement.values(values))


async def end_upload(
    db: Database, upload_id: str, *, result: UploadResult | None, message: str
) -> None:
    """Record the end of an upload: done with a result, or failed without."""
    statement = update(document_uploads).where(document_uploads.c.id == upload_id, _IS_OPEN)
    values = {
        "status": UploadStatus.FAILED if result is None else UploadStatus.DONE,
        "result": None if result is None else result.model_dump(mode="json"),
        "message": message,
        "finished_at": func.now(),
    }
    async with db.writing() as connection:
        await connection.execute(statement.values(values))


def _upload(row: Row[Any]) -> DocumentUpload:
    return DocumentUpload.model_validate(dict(row._mapping))  # noqa: SLF001 - SQLAlchemy's public name
