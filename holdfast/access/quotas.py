"""Set quotas of owners and of keys."""

from holdfast.models.access.quotas import Quota, QuotaHolder, QuotaLimits
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput
from holdfast.storage.access.api_key_rows import load_key
from holdfast.storage.access.quota_rows import store_quota
from holdfast.storage.core.database import Database


async def set_quota(
    db: Database, kind: QuotaHolder, subject: str, limits: QuotaLimits, *, by: str
) -> Quota:
    """Set what an owner or a key may spend in a day; an earlier quota is replaced.

    Raises:
        BadInput: no limit is given, or the owner is empty.
        NotFound: there is no such key.
    """
    if not subject.strip():
        raise BadInput("name the owner or the key of the quota", field="subject")
    if limits.calls is None and limits.tokens is None and limits.cost is None:
        raise BadInput("a quota needs a limit: calls, tokens or cost", field="calls")
    if kind is QuotaHolder.KEY:
        with error_field("subject"):
            await load_key(db, subject)
    return await store_quota(db, kind, subject, limits, by)
