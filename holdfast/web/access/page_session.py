"""Give each route of the page the signed-in caller, and the job that the caller may see."""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Path, Request

from holdfast.api.access.access_errors import AccessRefused, KeyMissing
from holdfast.api.access.callers import Caller
from holdfast.api.access.request_audit import record_foreign_read, record_request
from holdfast.api.api_context import (
    ApiContext,
    CallerSession,
    JobSession,
    check_visible_job,
    context_of,
)
from holdfast.jobs.current_user import current_user
from holdfast.models.access.access_scopes import Scope
from holdfast.models.errors import NotFound
from holdfast.storage.access.api_key_rows import find_key
from holdfast.web.access.page_polls import PollAudit, limited_name
from holdfast.web.access.request_origin import check_origin
from holdfast.web.access.session_cookie import INSTALLATION, cookie_name, subject_of

_LONGEST_SHOWN_ID = 60


class SignInNeeded(KeyMissing):
    """The browser is not signed in."""


async def signed_in_caller(context: ApiContext, request: Request) -> Caller:
    """Who uses the browser.

    Raises:
        SignInNeeded: nobody has signed in, or the key was revoked or has expired.
    """
    token = context.authentication.token
    subject = subject_of(token, request.cookies.get(cookie_name(token), ""))
    if subject == INSTALLATION:
        user = current_user()
        return Caller(user, user, frozenset(Scope))
    found = None if subject is None else await find_key(context.holdfast.db, subject)
    if found is None or found.key.state_at(datetime.now(UTC)) != "active":
        raise SignInNeeded("this browser is not signed in")
    key = found.key
    return Caller(key.sender, key.owner, frozenset(key.scopes), key.id)


def _audit_of(request: Request) -> PollAudit:
    audit: PollAudit = request.app.state.poll_audit
    return audit


def _session(scope: Scope) -> Callable[..., Coroutine[Any, Any, CallerSession]]:
    async def session(request: Request) -> CallerSession:
        context = context_of(request)
        caller = await signed_in_caller(context, request)
        check_origin(request)
        request.state.rate_limit = context.rates.count(limited_name(request, caller.key_id))
        db, audit = context.holdfast.db, _audit_of(request)
        await audit.record(request, caller, lambda: record_request(db, request, caller))
        if not caller.may(scope):
            raise AccessRefused(f"this needs a key with the scope {scope.value!r}")
        return CallerSession(context, caller)

    return session


def _job_session(scope: Scope) -> Callable[..., Coroutine[Any, Any, JobSession]]:
    async def job_session(
        request: Request,
        session: Annotated[CallerSession, Depends(_session(scope))],
        job: Annotated[str, Path()],
    ) -> JobSession:
        try:
            owner = await check_visible_job(session, job)
        except NotFound as error:
            # The API's message names its own route, which is of no use to a person.
            raise NotFound(f"there is no job {job[:_LONGEST_SHOWN_ID]!r} among yours") from error
        db, caller = session.installation.db, session.caller
        await _audit_of(request).record(
            request, caller, lambda: record_foreign_read(db, request, caller, owner)
        )
        return JobSession(session.context, session.caller, job)

    return job_session


PageReader = Annotated[CallerSession, Depends(_session(Scope.READ))]
PageAsker = Annotated[CallerSession, Depends(_session(Scope.ASK))]
PageAdministrator = Annotated[CallerSession, Depends(_session(Scope.ADMIN))]
PageJob = Annotated[JobSession, Depends(_job_session(Scope.READ))]
AskedPageJob = Annotated[JobSession, Depends(_job_session(Scope.ASK))]
"""A job that another job begins from."""
SteeredPageJob = Annotated[JobSession, Depends(_job_session(Scope.STEER))]
"""A job that the request changes."""
