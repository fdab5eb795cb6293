"""Define the routes of quotas."""

from fastapi import APIRouter

from holdfast.access.quotas import set_quota
from holdfast.api.api_context import Administrator, KeyAdministrator
from holdfast.models.access.quotas import Quota, QuotaHolder, QuotaLimits
from holdfast.models.frozen_model import Frozen
from holdfast.storage.access.quota_rows import load_quotas, remove_quota

router = APIRouter(prefix="/quotas", tags=["access"])


class RemovedQuota(Frozen):
    """A quota that holds no more."""

    kind: QuotaHolder
    subject: str


@router.get("")
async def list_quotas(session: Administrator) -> list[Quota]:
    """Every quota, with what is used of it today."""
    return await load_quotas(session.holdfast.db)


@router.put("/{kind}/{subject}")
async def put_quota(
    session: KeyAdministrator, kind: QuotaHolder, subject: str, body: QuotaLimits
) -> Quota:
    """Set what an owner or a key may spend in a day; an earlier quota is replaced."""
    return await set_quota(session.holdfast.db, kind, subject, body, by=session.caller.name)


@router.delete("/{kind}/{subject}")
async def delete_quota(session: KeyAdministrator, kind: QuotaHolder, subject: str) -> RemovedQuota:
    """Let the owner or the key spend without this quota."""
    await remove_quota(session.holdfast.db, kind, subject, session.caller.name)
    return RemovedQuota(kind=kind, subject=subject)
