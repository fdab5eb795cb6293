"""Take the files that come with a question into a collection, and say when they are read."""

import re
from pathlib import PurePosixPath

from starlette.datastructures import FormData, UploadFile

from holdfast.api.api_context import CallerSession
from holdfast.api.owned_collections import SHARED_PREFIX, OwnedCollections
from holdfast.corpus.uploads.upload_acceptance import SentFile, UploadRequest, accept_upload
from holdfast.jobs.job_submission import check_submission
from holdfast.models.corpus.document_uploads import DocumentUpload, UploadStatus
from holdfast.models.errors import BadInput
from holdfast.web.ask.ask_form import AskForm

_NAME_CHARS = 40
_KEY_CHARS = 6
_MOST_NAMED = 5


async def with_question_files(session: CallerSession, form: AskForm, sent: FormData) -> AskForm:
    """The form with the upload of its files, and with their collection, which may be new.

    Raises:
        BadInput: the files or what is asked cannot be used; nothing is kept.
        NotFound: there is no such preset.
        BadConfiguration: `holdfast.toml` cannot be used.
        StorageAway: PostgreSQL does not answer; nothing is kept.
    """
    files = _files(sent)
    if not files:
        return form
    check_submission(form.submission(), session.holdfast.settings, session.caller.owner)
    name = form.collection or _new_name(files[0].name, form.key)
    if name.startswith(SHARED_PREFIX) and not session.caller.sees_all:
        raise BadInput(f"only an administrator adds files to {name!r}; choose no collection")
    upload = await accept_upload(
        session.context.uploads,
        UploadRequest(
            owner=session.caller.owner,
            collection=OwnedCollections(session.caller).writable_name(name),
            files=files,
            metadata={},
            replaces_collection=False,
        ),
    )
    return form.model_copy(update={"collection": name, "upload": upload.id})


def reading_fault(upload: DocumentUpload) -> str:
    """What a user must know of the files before the question is asked; empty if nothing."""
    if upload.status is UploadStatus.FAILED:
        return f"the files could not be read: {upload.message or 'the reading failed'}"
    result = upload.result
    if result is None or not result.skipped:
        return ""
    left_out = "; ".join(f"{each.path} ({each.reason})" for each in result.skipped[:_MOST_NAMED])
    more = len(result.skipped) - _MOST_NAMED
    left_out += f"; and {more} more" if more > 0 else ""
    ending = "ask again to go on without them"
    if not result.added + result.changed + result.unchanged:
        ending = "no file could be read, so choose others"
    return f"left out: {left_out}; {ending}"


def _files(sent: FormData) -> list[SentFile]:
    parts = (part for part in sent.getlist("files") if isinstance(part, UploadFile))
    # A browser sends an empty part for a field without a file.
    return [SentFile(each.filename, each.file, each.size or 0) for each in parts if each.filename]


def _new_name(file: str, key: str) -> str:
    """The name of a new collection, the same each time that a form is sent."""
    stem = re.sub(r"[^\w.-]+", "-", PurePosixPath(file).stem).strip("-.")[:_NAME_CHARS] or "files"
    return f"{stem}-{re.sub(r'[^0-9a-zA-Z]', '', key)[:_KEY_CHARS] or 'new'}"
