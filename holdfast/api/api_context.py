"""Give each route the installation, the caller, and the job that the caller may see."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Protocol

from fastapi import Depends, Path, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from holdfast.api.access.authentication import Authentication
from holdfast.api.access.callers import Caller
from holdfast.api.access.request_audit import record_foreign_read, record_request
from holdfast.api.access.request_rates import RequestRates
from holdfast.api.event_feed import EventFeed
from holdfast.api.stream_slots import StreamSlots
from holdfast.client import Holdfast
from holdfast.corpus.uploads.upload_queue import UploadQueue
from holdfast.jobs.job_controller import JobController
from holdfast.models.access.access_scopes import Scope
from holdfast.models.errors import NotFound
from holdfast.observability.metrics_text import MetricsPage
from holdfast.storage.jobs import job_rows

_MAX_ID_LENGTH = 200
_BEARER = HTTPBearer(auto_error=False, description="An API key, or the installation's own token.")


@dataclass(frozen=True)
class ApiContext:
    """What all routes of one server share."""

    holdfast: Holdfast
    following: EventFeed
    authentication: Authentication
    rates: RequestRates
    reads_within: timedelta
    uploads: UploadQueue
    streams: StreamSlots
    metrics: MetricsPage


@dataclass(frozen=True)
class CallerSession:
    """A request whose sender is known and has the scope that the route needs."""

    context: ApiContext
    caller: Caller

    @property
    def holdfast(self) -> Holdfast:
        """The installation as the sender may see it."""
        return self.context.holdfast.on_behalf_of(self.caller.visible_owner)

    @property
    def installation(self) -> Holdfast:
        """The whole installation, for what concerns other owners, too."""
        return self.context.holdfast


@dataclass(frozen=True)
class JobSession:
    """A request about a job that its sender may see."""

    context: ApiContext
    caller: Caller
    id: str

    @property
    def holdfast(self) -> Holdfast:
        """The installation as the sender may see it."""
        return self.context.holdfast.on_behalf_of(self.caller.visible_owner)

    @property
    def controller(self) -> JobController:
        return JobController(self.holdfast, self.caller.name)


def context_of(request: Request) -> ApiContext:
    """The context of the server that answers the request."""
    context: ApiContext = request.app.state.context
    return context


def _session(
    scope: Scope, *, is_recorded: bool = True
) -> Callable[..., Coroutine[Any, Any, CallerSession]]:
    async def session(
        request: Request,
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
    ) -> CallerSession:
        context = context_of(request)
        caller = await context.authentication.caller_of(given.credentials if given else "")
        request.state.rate_limit = context.rates.count(caller.key_id)
        if is_recorded:
            await record_request(context.holdfast.db, request, caller)
        caller.check_scope(scope)
        return CallerSession(context, caller)

    return session


class CallerView(Protocol):
    """A caller whose scope was checked, whichever face the caller came by."""

    @property
    def holdfast(self) -> Holdfast: ...
    @property
    def caller(self) -> Caller: ...


async def check_visible_job(session: CallerView, job_id: str) -> str:
    """Refuse a job that does not exist or belongs to another owner; return its owner.

    Raises:
        NotFound: the caller sees no such job.
    """
    # PostgreSQL refuses a text with NUL, even in a query.
    is_id = job_id.isprintable() and len(job_id) <= _MAX_ID_LENGTH
    owner = await job_rows.find_job_owner(session.holdfast.db, job_id) if is_id else None
    if owner is None or session.caller.visible_owner not in (None, owner):
        name = job_id[:_MAX_ID_LENGTH]
        raise NotFound(f"there is no job {name!r}; `holdfast list` lists the jobs")
    return owner


def _job_session(scope: Scope) -> Callable[..., Coroutine[Any, Any, JobSession]]:
    async def job_session(
        request: Request,
        session: Annotated[CallerSession, Depends(_session(scope))],
        job: Annotated[str, Path(description="The id of a job.")],
    ) -> JobSession:
        owner = await check_visible_job(session, job)
        await record_foreign_read(session.installation.db, request, session.caller, owner)
        return JobSession(session.context, session.caller, job)

    return job_session


Reader = Annotated[CallerSession, Depends(_session(Scope.READ))]
Asker = Annotated[CallerSession, Depends(_session(Scope.ASK))]
Steerer = Annotated[CallerSession, Depends(_session(Scope.STEER))]
Administrator = Annotated[CallerSession, Depends(_session(Scope.ADMIN))]
KeyAdministrator = Annotated[CallerSession, Depends(_session(Scope.ADMIN, is_recorded=False))]
"""A request about keys, whose changes are recorded in their own transaction."""
MetricsReader = Annotated[CallerSession, Depends(_session(Scope.ADMIN, is_recorded=False))]
"""A program that reads figures every few seconds, which would fill the audit."""
ReadJob = Annotated[JobSession, Depends(_job_session(Scope.READ))]
AskedJob = Annotated[JobSession, Depends(_job_session(Scope.ASK))]
"""A job that another job begins from."""
SteeredJob = Annotated[JobSession, Depends(_job_session(Scope.STEER))]
"""A job that the request changes."""
