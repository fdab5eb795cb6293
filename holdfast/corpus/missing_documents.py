"""Say that an imported job read documents that are not in this installation."""

from holdfast.models.jobs.job_record import Job
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.collection_description import document_count
from holdfast.storage.jobs.job_import import load_job_import

_NOT_HERE = "the documents that it searched are not in this installation"


async def missing_documents_note(db: Database, job: Job, *, read_documents: bool = False) -> str:
    """Return what is missing, and where it belongs; empty if the job's collection has documents.

    Only an imported job, or a fork of one, is named: of any other its owner emptied the
    collection. `read_documents` is for a job that is known to have read some: if it has no
    collection any more, its new owner does not read the one that it had.
    """
    collection = job.request.collection
    if not (collection or read_documents) or not await _is_imported(db, job):
        return ""
    if not collection:
        return f"the job was imported without its collection, and {_NOT_HERE}"
    if await document_count(db, collection):
        return ""
    return (
        f"the job was imported, and {_NOT_HERE}: searches find nothing until the collection "
        f"{collection!r} has them"
    )


async def _is_imported(db: Database, job: Job) -> bool:
    origins = job.request.fork.origins if job.request.fork else ()
    for job_id in (job.id, *origins):
        if await load_job_import(db, job_id) is not None:
            return True
    return False
