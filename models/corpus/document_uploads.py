"""Define an upload of documents into a collection: its files, progress and result."""

from datetime import datetime
from enum import StrEnum

from holdfast.models.corpus.search_language import SearchLanguage
from holdfast.models.frozen_model import Frozen

MAX_LISTED_UPLOADS = 200


class UploadStatus(StrEnum):
    """Where an upload stands."""

    WAITING = "waiting"
    READING = "reading"
    DONE = "done"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        return self in (UploadStatus.DONE, UploadStatus.FAILED)


class UploadProgress(Frozen):
    """How much of the current activity is done: files that were read, or passages embedded."""

    activity: str = ""
    done: int = 0
    total: int = 0


class SkippedFile(Frozen):
    """A file that is no document of the collection, and why."""

    path: str
    reason: str


class UploadResult(Frozen):
    """What an upload changed in its collection."""

    added: int
    changed: int
    unchanged: int
    removed: int
    skipped: tuple[SkippedFile, ...]
    embedded: int = 0
    """Passages that got vectors."""
    without_vector: int = 0
    fault: str = ""
    """Why passages have no vector."""


class DocumentUpload(Frozen):
    """Files that were sent to a collection and are read in the background."""

    id: str
    owner: str
    collection: str
    replaces_collection: bool
    """True if every other document of the collection is removed."""
    metadata: dict[str, str]
    language: SearchLanguage | None = None
    """That the whole collection gets; null: its own stays."""
    files: int
    size_bytes: int
    status: UploadStatus
    progress: UploadProgress = UploadProgress()
    result: UploadResult | None = None
    message: str = ""
    """Why the upload failed, or what its sender should know."""
    created_at: datetime
    finished_at: datetime | None = None
