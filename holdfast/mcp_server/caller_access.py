"""Find out who calls a tool, what the caller may see, and record what the caller does.

Over HTTP the caller is whoever the API key or the token belongs to, and what the caller does is
recorded in the audit, as for the routes of the API. Over stdio the caller is the user who started
the server, as on the command line.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from mcp.server.context import ServerRequestContext

from holdfast.api.access.callers import Caller
from holdfast.api.api_context import check_visible_job
from holdfast.api.problem_documents import status_of_error
from holdfast.client import Holdfast
from holdfast.jobs.job_controller import JobController
from holdfast.models.access.access_scopes import Scope
from holdfast.models.access.audit_entries import AuditedAction
from holdfast.models.errors import HoldfastError, StorageAway
from holdfast.storage.access.audit_rows import append_audit_entry

Request = ServerRequestContext[Any, Any]


@dataclass(frozen=True)
class KnownCaller:
    """The caller of a tool, and the installation that the tool works on."""

    installation: Holdfast
    caller: Caller
    page: str = ""
    """The address of the installation's page; empty if no page is served."""
    is_audited: bool = False

    @property
    def holdfast(self) -> Holdfast:
        """The installation as the caller may see it."""
        return self.installation.on_behalf_of(self.caller.visible_owner)

    @property
    def controller(self) -> JobController:
        return JobController(self.holdfast, self.caller.name)

    def page_of(self, job_id: str) -> str | None:
        """The address of the job's page."""
        return f"{self.page}/jobs/{job_id}" if self.page else None


class CallerAccess(Protocol):
    """How a transport finds out who calls."""

    async def known_caller(self, request: Request) -> KnownCaller:
        """The caller of the request.

        Raises:
            ServiceDown: the installation cannot be reached.
        """
        ...

    def report_error(self, error: HoldfastError) -> None:
        """Note that a request failed so, in case the connection must be made again."""
        ...


@dataclass(frozen=True)
class ToolCalls:
    """Lets callers in, each with the scope that the call needs."""

    access: CallerAccess

    @asynccontextmanager
    async def open(
        self,
        request: Request,
        tool: str,
        scope: Scope,
        job_id: str | None = None,
        *,
        subject: str = "",
    ) -> AsyncIterator[KnownCaller]:
        """The caller of a tool, who may use it and may see the job.

        `subject` is what the audit names if the call is not about a job.

        Raises:
            AccessRefused: the caller's key lacks the scope.
            NotFound: the caller sees no such job.
        """
        known = await self.access.known_caller(request)
        action = _action(known.caller, tool, job_id or subject)
        is_recorded = known.is_audited and (scope is not Scope.READ or known.caller.sees_all)
        try:
            if is_recorded:
                await append_audit_entry(known.installation.db, action)
            known.caller.check_scope(scope)
            if job_id is not None:
                await check_visible_job(known, job_id)
            yield known
        except HoldfastError as error:
            self.access.report_error(error)
            if is_recorded:
                await _record_refusal(known.installation, action, error)
            raise


def _action(caller: Caller, tool: str, subject: str) -> AuditedAction:
    # The id is the caller's word, until the job or the schedule is found.
    shown = "".join(sign for sign in subject if sign.isprintable())
    return AuditedAction(
        actor=caller.name, key_id=caller.key_id, action=tool, resource=f"/mcp {shown}"[:200].strip()
    )


async def _record_refusal(holdfast: Holdfast, action: AuditedAction, error: HoldfastError) -> None:
    try:
        refusal = action.model_copy(update={"refused": status_of_error(error)})
        await append_audit_entry(holdfast.db, refusal)
    except StorageAway:
        # The first entry is stored, and the sender must learn of the refusal.
        return
