"""Make, check, rotate and revoke API keys.

A key is `hf_ID_SECRET`. Only the SHA-256 of the secret is stored: the secret has 256 random bits,
so a slow hash adds nothing. The key is bound to one owner when it is made, and no request says who
its sender is.
"""

import hashlib
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from holdfast.models.access.access_scopes import Scope
from holdfast.models.access.api_keys import ApiKey, CreatedKey
from holdfast.models.access.audit_entries import AuditedAction
from holdfast.models.errors import BadInput, NotFound
from holdfast.storage.access import api_key_rows
from holdfast.storage.core.database import Database

KEY_PREFIX = "hf_"
DEFAULT_LIFETIME_DAYS = 365
MAX_LIFETIME_DAYS = 3650
DEFAULT_OVERLAP_HOURS = 24
MAX_OVERLAP_HOURS = 24 * 30
_ID_BYTES = 6
_SECRET_BYTES = 32
_MAX_NAME_LENGTH = 100
_KEY = re.compile(r"hf_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
_RESERVED_OWNERS = frozenset({"shared"})
"""Collections whose names begin with it are read by all owners."""


async def create_key(
    db: Database,
    *,
    name: str,
    owner: str,
    scopes: Sequence[Scope],
    days: int,
    by: str,
) -> CreatedKey:
    """Make a key that is valid for `days`; `by` is who makes it, for the audit.

    Raises:
        BadInput: the name, the owner, the scopes or the lifetime cannot be used.
    """
    if not 1 <= days <= MAX_LIFETIME_DAYS:
        raise BadInput(f"a key is valid for 1 to {MAX_LIFETIME_DAYS:,} days, not {days:,}")
    if not scopes:
        listed = ", ".join(scope.value for scope in Scope)
        raise BadInput(f"a key needs a scope; choose from {listed}")
    now = datetime.now(UTC)
    made = ApiKey(
        id=secrets.token_hex(_ID_BYTES),
        name=_checked_name(name),
        owner=_checked_owner(owner),
        scopes=tuple(sorted(set(scopes))),
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    return await _store(db, made, by, "create_key")


async def key_of_owner(db: Database, key_id: str, owner: str) -> ApiKey:
    """Return the owner's key; `db` reads as the installation, because no owner reads keys.

    Raises:
        NotFound: the owner has no such key.
    """
    found = await api_key_rows.find_key(db, key_id) if key_id.isprintable() else None
    if found is None or found.key.owner != owner:
        raise NotFound(
            f"{owner} has no key {key_id[:40]!r}; the id of a key is the part between the two _"
        )
    return found.key


async def rotate_key(db: Database, key_id: str, *, overlap_hours: int, by: str) -> CreatedKey:
    """Make another key for the same use; the old key ends after `overlap_hours`.

    Raises:
        NotFound: there is no such key.
        BadInput: the key was revoked or has expired, or the overlap cannot be used.
    """
    if not 0 <= overlap_hours <= MAX_OVERLAP_HOURS:
        raise BadInput(
            f"the old key stays valid for 0 to {MAX_OVERLAP_HOURS} hours, not {overlap_hours}"
        )
    old = await api_key_rows.load_key(db, key_id)
    now = datetime.now(UTC)
    if (state := old.state_at(now)) != "active":
        raise BadInput(f"key {key_id} is {state}; create a new one")
    made = old.model_copy(
        update={
            "id": secrets.token_hex(_ID_BYTES),
            "created_at": now,
            "expires_at": now + (old.expires_at - old.created_at),
            "last_used_at": None,
            "replaces": old.id,
        }
    )
    ends_at = now + timedelta(hours=overlap_hours)
    return await _store(db, made, by, "rotate_key", replaced_ends_at=ends_at)


async def revoke_key(db: Database, key_id: str, *, by: str) -> ApiKey:
    """Refuse the key from now on.

    Raises:
        NotFound: there is no such key.
    """
    audited = AuditedAction(actor=by, action="revoke_key", resource=key_id)
    return await api_key_rows.revoke_stored_key(db, key_id, audited)


async def key_of(db: Database, given: str) -> ApiKey | None:
    """The valid key that a request sends, whose use is noted; None if it is no valid key."""
    parts = _KEY.fullmatch(given)
    if parts is None:
        return None
    found = await api_key_rows.find_key(db, parts[1])
    if found is None or not secrets.compare_digest(found.secret_hash, _hash(parts[2])):
        return None
    if found.key.state_at(datetime.now(UTC)) != "active":
        return None
    await api_key_rows.note_key_use(db, found.key.id)
    return found.key


async def _store(
    db: Database, made: ApiKey, by: str, action: str, *, replaced_ends_at: datetime | None = None
) -> CreatedKey:
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    audited = AuditedAction(actor=by, action=action, resource=made.id)
    await api_key_rows.store_key(
        db, made, _hash(secret), audited, replaced_ends_at=replaced_ends_at
    )
    return CreatedKey(key=f"{KEY_PREFIX}{made.id}_{secret}", details=made)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > _MAX_NAME_LENGTH or not name.isprintable():
        raise BadInput(
            f"{name[:_MAX_NAME_LENGTH]!r} cannot name a key: use a short printable name",
            field="name",
        )
    return name


def _checked_owner(owner: str) -> str:
    if not _OWNER.fullmatch(owner) or owner in _RESERVED_OWNERS:
        raise BadInput(
            f"{owner[:100]!r} cannot be an owner: use letters, digits and ._@+- (at most 100), and "
            "not 'shared'",
            field="owner",
        )
    return owner
