"""Resolve what a submitted job reads: a collection, or what the job before it read."""

from holdfast.client import Holdfast
from holdfast.corpus.collection_names import check_collection
from holdfast.jobs.follow_up_request import follow_up_request
from holdfast.jobs.job_submission import CheckedSubmission
from holdfast.models.error_fields import error_field
from holdfast.models.jobs.job_record import JobRequest
from holdfast.storage.corpus.corpus_store import CorpusStore


async def completed_request(holdfast: Holdfast, checked: CheckedSubmission) -> JobRequest:
    """The request with what it reads: a collection, or what the job before it read.

    Raises:
        NotFound: there is no such job, report or collection.
        BadInput: the preset cannot follow a job.
    """
    if checked.follows:
        with error_field("follows"):
            return await follow_up_request(holdfast, checked.follows, checked.request)
    if checked.request.collection:
        collections = await CorpusStore(holdfast.db).collections()
        with error_field("collection"):
            check_collection(checked.request.collection, collections)
    return checked.request
