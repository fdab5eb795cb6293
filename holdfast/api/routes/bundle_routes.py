"""Define the routes that write a job to a bundle, check a bundle, and store its job."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.datastructures import UploadFile
from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from holdfast.api.api_context import Asker, Reader, ReadJob
from holdfast.api.described_files import BINARY
from holdfast.api.owned_collections import OwnedCollections
from holdfast.bundles.bundle_check import BundleCheck, check_bundle
from holdfast.bundles.bundle_import import ImportedJob, import_bundle
from holdfast.bundles.bundle_writer import write_bundle
from holdfast.models.bundles.bundle_manifest import Redaction
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput

_ZIP = "application/zip"
_FIELDS = frozenset({"bundle", "new_id"})
_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["bundle"],
                    "properties": {
                        "bundle": {
                            "type": "string",
                            "format": "binary",
                            "description": "The file that an export wrote.",
                        },
                        "new_id": {
                            "type": "string",
                            "description": "The id of the job here; by default its own.",
                        },
                    },
                }
            }
        },
    }
}


class FileSentOnce(FileResponse):
    """A file that is removed once it was sent, or was not because its range is wrong."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            # A background task would not run after a wrong range or a broken connection.
            _remove(Path(self.path))


router = APIRouter(tags=["bundles"])


@router.get(
    "/jobs/{job}/bundle", response_class=Response, responses={200: {"content": {_ZIP: BINARY}}}
)
async def export_job(
    job: ReadJob,
    redact: Annotated[list[Redaction] | None, Query(description="What is left out.")] = None,
) -> Response:
    """The ended job in one file that anybody can read, check and import."""
    written = await asyncio.to_thread(_empty_file)
    try:
        with written.open("wb") as file:
            await write_bundle(job.holdfast, job.id, file, redacted=redact or ())
    except BaseException:
        written.unlink(missing_ok=True)
        raise
    return FileSentOnce(written, media_type=_ZIP, filename=f"{job.id}.crate.zip")


@router.post("/bundles", status_code=201, openapi_extra=_FORM)
async def import_job(session: Asker, request: Request, response: Response) -> ImportedJob:
    """Store the job of a bundle; sending the same bundle again stores nothing."""
    caller = session.caller
    sees = None if caller.sees_all else OwnedCollections(caller).sees
    async with _sent_bundle(request) as (file, new_id):
        # The job has no owner until it is stored, so that no webhook sends what is in it.
        imported = await import_bundle(
            session.installation, file, owner=caller.owner, new_id=new_id, sees=sees
        )
    response.headers["Location"] = f"/v1/jobs/{imported.job_id}"
    return imported


@router.post("/bundles/check", openapi_extra=_FORM)
async def check_sent_bundle(session: Reader, request: Request) -> BundleCheck:
    """Check the hashes, signature, sources and quotes of a bundle; nothing is stored."""
    del session
    async with _sent_bundle(request) as (file, _):
        with error_field("bundle"):
            return await asyncio.to_thread(check_bundle, file)


def _remove(written: Path) -> None:
    # At once and not in a thread: a broken connection cancels whatever waits.
    written.unlink(missing_ok=True)


def _empty_file() -> Path:
    with NamedTemporaryFile(suffix=".crate.zip", delete=False) as file:
        return Path(file.name)


@asynccontextmanager
async def _sent_bundle(request: Request) -> AsyncIterator[tuple[IO[bytes], str]]:
    # Read here and not by FastAPI, which would read the file of a sender without a key.
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise BadInput(
            "send the bundle as multipart/form-data, in a field `bundle`", field="bundle"
        )
    async with request.form(max_files=1, max_fields=len(_FIELDS)) as form:
        unknown = set(form) - _FIELDS
        if unknown:
            name = min(unknown)[:40]
            raise BadInput(f"the form has an unknown field {name!r}", field=name)
        bundle, new_id = form.get("bundle"), form.get("new_id", "")
        if not isinstance(bundle, UploadFile):
            raise BadInput(
                "the field `bundle` is a file; send it with a `filename`", field="bundle"
            )
        if not isinstance(new_id, str):
            raise BadInput("the field `new_id` is a text", field="new_id")
        yield bundle.file, new_id
