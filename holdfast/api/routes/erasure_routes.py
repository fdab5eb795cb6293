"""Define the routes that erase a job or an owner, and that show the receipts."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from holdfast.api.access.access_errors import AccessRefused
from holdfast.api.api_context import Administrator, CallerSession, Steerer, check_visible_job
from holdfast.jobs.erasure import erase_job, erase_owner
from holdfast.models.access.erasures import ErasureReceipt
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.storage.jobs.erasure_rows import load_receipts

router = APIRouter(prefix="/erasures", tags=["erasure"])

_MAX_RECEIPTS = 1000


class ErasureBody(Frozen):
    """What is erased: a job, or everything that an owner has."""

    job: str | None = Field(default=None, max_length=200, description="The id of a job.")
    owner: str | None = Field(
        default=None, max_length=100, description="The name of an owner; needs the scope `admin`."
    )
    with_follow_ups: bool = Field(
        default=False,
        strict=True,
        description="Erase the jobs that follow or fork the job, too; they quote it.",
    )


@router.post("")
async def erase(session: Steerer, body: ErasureBody) -> ErasureReceipt:
    """Erase a job, or everything of an owner, and return the receipt."""
    if (body.job is None) == (body.owner is None):
        raise BadInput("name either a `job` or an `owner`", field="job")
    if body.job is not None:
        with error_field("job"):
            await check_visible_job(session, body.job)
        # Passages stay that a job of any other owner quotes, and the receipt counts such jobs.
        receipt = await erase_job(
            session.installation,
            body.job,
            by=session.caller.name,
            with_follow_ups=body.with_follow_ups,
            owner=session.caller.visible_owner,
        )
        if session.caller.sees_all:
            return receipt
        # The caller learns that copies are left, and not which jobs others have.
        left = ("a job of another owner",) * len(receipt.dependent_jobs)
        return receipt.model_copy(update={"dependent_jobs": left})
    return await _erase_owner(session, body.owner or "")


@router.get("")
async def list_erasures(
    session: Administrator, limit: Annotated[int, Query(ge=1, le=_MAX_RECEIPTS)] = 50
) -> list[ErasureReceipt]:
    """The receipts of erasures, the newest first."""
    return await load_receipts(session.holdfast.db, limit)


async def _erase_owner(session: CallerSession, owner: str) -> ErasureReceipt:
    if not session.caller.sees_all:
        raise AccessRefused("erasing an owner needs a key with the scope 'admin'")
    return await erase_owner(session.holdfast, owner, by=session.caller.name)
