"""Say that an imported job read documents that are not in this installation."""

from holdfast.models.jobs.job_record import Job
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.jobs.job_import import load_job_import


async def missing_documents_note(db: Database, job: Job) -> str:
    """Return what is missing, and where it belongs; empty if the job's collection has documents.

    A job that was asked here is never named: its owner emptied the collection.
    """
    collection = job.request.collection
    if not collection or await load_job_import(db, job.id) is None:
        return ""
    if await CorpusStore(db).documents(collection):
        return ""
    return (
        "the job was imported, and the documents that it searched are not in this installation: "
        f"searches find nothing until the collection {collection!r} has them"
    )
