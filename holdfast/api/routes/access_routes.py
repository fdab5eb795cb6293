"""Define the routes of API keys and of the audit."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from holdfast.access.api_keys import (
    DEFAULT_LIFETIME_DAYS,
    DEFAULT_OVERLAP_HOURS,
    MAX_LIFETIME_DAYS,
    MAX_OVERLAP_HOURS,
    create_key,
    revoke_key,
    rotate_key,
)
from holdfast.api.api_context import Administrator, KeyAdministrator
from holdfast.models.access.access_scopes import Scope
from holdfast.models.access.api_keys import ApiKey, CreatedKey
from holdfast.models.access.audit_entries import MAX_LISTED_ENTRIES, AuditEntry, AuditFilter
from holdfast.models.frozen_model import Frozen
from holdfast.storage.access.api_key_rows import load_keys
from holdfast.storage.access.audit_rows import load_audit_entries

router = APIRouter(tags=["access"])


class NewKeyBody(Frozen):
    """A key to make."""

    name: str = Field(description="What the key is for, such as `laptop`.")
    owner: str = Field(description="Whose jobs and collections it makes and sees.")
    scopes: tuple[Scope, ...] = Field(default=(Scope.READ, Scope.ASK, Scope.STEER), min_length=1)
    days: int = Field(default=DEFAULT_LIFETIME_DAYS, strict=True, ge=1, le=MAX_LIFETIME_DAYS)


class RotationBody(Frozen):
    """How long the old key stays valid."""

    overlap_hours: int = Field(
        default=DEFAULT_OVERLAP_HOURS, strict=True, ge=0, le=MAX_OVERLAP_HOURS
    )


@router.post("/keys", status_code=201)
async def create_api_key(session: KeyAdministrator, body: NewKeyBody) -> CreatedKey:
    """Make a key; the answer is the only one that has its secret."""
    return await create_key(
        session.holdfast.db,
        name=body.name,
        owner=body.owner,
        scopes=body.scopes,
        days=body.days,
        by=session.caller.name,
    )


@router.get("/keys")
async def list_api_keys(session: Administrator) -> list[ApiKey]:
    """Every key without its secret, the newest first."""
    return await load_keys(session.holdfast.db)


@router.post("/keys/{key}/rotate", status_code=201)
async def rotate_api_key(session: KeyAdministrator, key: str, body: RotationBody) -> CreatedKey:
    """Make another key for the same use; the old one ends after the overlap."""
    return await rotate_key(
        session.holdfast.db, key, overlap_hours=body.overlap_hours, by=session.caller.name
    )


@router.delete("/keys/{key}")
async def revoke_api_key(session: KeyAdministrator, key: str) -> ApiKey:
    """Refuse the key from now on."""
    return await revoke_key(session.holdfast.db, key, by=session.caller.name)


@router.get("/audit")
async def list_audit_entries(
    session: Administrator,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED_ENTRIES)] = 50,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    actor: Annotated[str | None, Query(max_length=300)] = None,
    resource: Annotated[str | None, Query(max_length=300)] = None,
) -> list[AuditEntry]:
    """Who did what, the newest first; `before` continues a list."""
    which = AuditFilter(limit=limit, before=before, actor=actor, resource=resource)
    return await load_audit_entries(session.holdfast.db, which)
