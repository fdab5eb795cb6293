"""Tests for what an open page asks for by itself: its own limit, and one entry of the audit an hour."""

from collections.abc import Iterator

import httpx2
import pytest
from starlette.requests import Request
from starlette.routing import Route

from holdfast.api.access.callers import Caller
from holdfast.models.access.access_scopes import Scope
from holdfast.models.errors import StorageAway
from holdfast.web.access.page_links import make_link_token
from holdfast.web.access.page_polls import POLL_HEADER, PollAudit, is_poll
from tests.holdfast.api.test_keys_and_owners import client_of, created, submitted
from tests.holdfast.api.test_request_audit import entries
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

POLL = {POLL_HEADER: "yes"}


def asked(
    path: str,
    *,
    method: str = "GET",
    name: str = "show_progress",
    job: str = "",
    poll: bool = False,
) -> Request:
    route = Route(path, lambda _: None, name=name)  # type: ignore[arg-type, return-value]  # not called
    return Request(
        {
            "type": "http", "method": method, "path": path, "route": route, "query_string": b"",
            "path_params": {"job": job} if job else {}, "state": {},
            "headers": [(POLL_HEADER.lower().encode(), b"yes")] if poll else [],
        }
    )  # fmt: skip


def test_a_change_is_no_poll_whatever_it_says_of_itself() -> None:
    assert is_poll(asked("/jobs/j", poll=True))
    assert is_poll(asked("/jobs/j/events", name="follow_job"))
    assert not is_poll(asked("/jobs/j"))
    assert not is_poll(asked("/jobs/j/pause", method="POST", poll=True))


async def test_a_poll_is_recorded_again_after_an_hour_and_after_an_entry_that_was_not_stored() -> (
    None
):
    now, stored = 0.0, list[str]()
    audit = PollAudit(clock=lambda: now)
    ana, ben = (Caller(name, name, frozenset({Scope.ADMIN}), name) for name in ("ana", "ben"))

    async def read(caller: Caller, *, poll: bool, job: str = "j", is_stored: bool = True) -> None:
        request = asked(f"/jobs/{job}", job=job, poll=poll)

        async def append() -> None:
            if not is_stored:
                raise StorageAway("PostgreSQL does not answer")
            request.state.audited = True
            stored.append(f"{caller.name} {job} {now:.0f}")

        await audit.record(request, caller, append)

    with pytest.raises(StorageAway):
        await read(ana, poll=True, is_stored=False)
    for poll in (True, True, False, True):
        await read(ana, poll=poll)
    await read(ben, poll=True)
    await read(ana, poll=True, job="other")
    now = 3599.0
    await read(ana, poll=True)
    now = 3600.0
    await read(ana, poll=True)

    assert stored == ["ana j 0", "ana j 0", "ben j 0", "ana other 0", "ana j 3600"]


@pytest.fixture
def serving(idle_engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(idle_engine.holdfast, writes=True) as serving:
        yield serving


def left(answer: httpx2.Response) -> int:
    return int(answer.headers["ratelimit"].partition("r=")[2].partition(";")[0])


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.conformance("WEB-02", "API-03")
async def test_an_open_page_uses_up_no_requests_of_its_user_and_is_audited_once(
    serving: HttpService,
) -> None:
    key = await created(serving, "maria")
    async with client_of(serving, key["key"]) as client:
        job = await submitted(client)
    async with httpx2.AsyncClient(base_url=serving.url, trust_env=False, timeout=30) as browser:
        await browser.get(f"/open?token={make_link_token(serving.token)}")
        opened = await browser.get(f"/jobs/{job}")
        for _ in range(3):
            await browser.get(f"/jobs/{job}/newest")
            last = await browser.get(f"/jobs/{job}", headers=POLL)
        again = await browser.get("/models")

        for _ in range(2):
            await browser.get(f"/jobs/{job}/log", headers=POLL)

    actions = [action for _, action, _ in await entries(serving, resource=f"/jobs/{job}")]
    assert actions.count("show_progress") == 1
    assert "show_newest_entries" not in actions
    # Another page is recorded, whatever the request says of itself.
    assert actions.count("show_log") == 1
    # A new minute may begin in between, and the counts with it.
    assert left(again) in (left(opened) - 1, 1199)
    assert left(last) <= 1194 or left(again) == 1199
