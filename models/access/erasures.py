"""Define the erasure of a job or of all that an owner has, and its receipt."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from holdfast.models.frozen_model import Frozen


class ErasureSubject(StrEnum):
    """What is erased."""

    JOB = "job"
    OWNER = "owner"


class ErasureReceipt(Frozen):
    """What an erasure removed; a receipt holds ids and numbers, and nothing of the content."""

    id: str
    kind: ErasureSubject
    subject: str
    """The id of the job, or the name of the owner."""
    erased_by: str
    begun_at: datetime
    ended_at: datetime | None
    """None: the erasure was interrupted; the same erasure continues it."""
    jobs: tuple[str, ...]
    """The erased jobs."""
    rows: Mapping[str, int]
    """The removed rows, by table."""
    workflow_runs: tuple[str, ...]
    """The runs whose histories were deleted in Temporal."""
    upload_folders: int
    """Folders of uploaded files that were removed from the home folder of this computer."""
    shared_sources: int
    """Passages that the erased jobs read and that other jobs read, too; they stay."""
    dependent_jobs: tuple[str, ...]
    """Jobs of other owners that follow or fork an erased job; they keep what they took from it."""
