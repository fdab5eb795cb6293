"""Record in the audit who asks for what.

Every request that may change something is recorded before it is carried out, and so is what an
administrator reads. The installation's token belongs to the user who can read the database anyway,
so of its reads only those of another owner's job are recorded. If the request is then refused,
another entry says so. A request whose entry cannot be stored is not carried out.
"""

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.api.access.callers import Caller
from holdfast.models.access.audit_entries import AuditedAction
from holdfast.models.errors import StorageAway
from holdfast.storage.access.audit_rows import append_audit_entry
from holdfast.storage.core.database import Database

_MAX_RESOURCE_LENGTH = 500
_READING = frozenset({"GET", "HEAD"})
_LOWEST_REFUSAL = 400


async def record_request(db: Database, request: Request, caller: Caller) -> None:
    """Record a request that changes something, or in which an administrator's key reads.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    reads = request.method in _READING
    if not reads or (caller.sees_all and not caller.is_installation):
        await _record(db, request, caller)


async def record_foreign_read(db: Database, request: Request, caller: Caller, owner: str) -> None:
    """Record that the installation's token is used to read another owner's job.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    reads = request.method in _READING
    if reads and caller.is_installation and owner not in ("", caller.owner):
        await _record(db, request, caller)


async def _record(db: Database, request: Request, caller: Caller) -> None:
    action = AuditedAction(
        actor=caller.name,
        key_id=caller.key_id,
        action=request.scope["route"].name,
        resource=request.url.path[:_MAX_RESOURCE_LENGTH],
    )
    await append_audit_entry(db, action)
    request.state.audited = action


class RefusalAudit:
    """Record that a request of the audit was refused."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def recording_send(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= _LOWEST_REFUSAL:
                await self._record(scope, message["status"])
            await send(message)

        await self._app(scope, receive, recording_send)

    @staticmethod
    async def _record(scope: Scope, status: int) -> None:
        action: AuditedAction | None = scope.get("state", {}).get("audited")
        if action is None:
            return
        try:
            refusal = action.model_copy(update={"refused": status})
            await append_audit_entry(scope["app"].state.context.holdfast.db, refusal)
        except StorageAway:
            # The first entry is stored, and the sender must learn of the refusal.
            return
