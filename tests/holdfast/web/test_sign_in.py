"""Tests for who may use the page: printed addresses, cookies, keys, and other sites' requests."""

import os
import time
from collections.abc import Iterator
from http.cookies import SimpleCookie

import httpx2
import pytest

from holdfast.api.access.installation_token import make_token
from holdfast.web.access import page_links
from holdfast.web.access.page_links import make_link_token, redeem_link_token
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
def serving(idle_engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(idle_engine.holdfast, writes=True) as serving:
        yield serving


def browser_of(serving: HttpService) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=serving.url, trust_env=False, timeout=30)


async def test_a_printed_address_signs_in_one_browser_once(serving: HttpService) -> None:
    address = f"/open?token={make_link_token(serving.token)}&to=/jobs"
    async with browser_of(serving) as mine, browser_of(serving) as other:
        opened = await mine.get(address)
        shown = await mine.get("/jobs")
        again = await other.get(address)
        strange = await other.get("/jobs")

    cookie = SimpleCookie(opened.headers["set-cookie"])
    (morsel,) = cookie.values()
    assert (opened.status_code, opened.headers["location"]) == (303, "/jobs")
    assert (morsel["httponly"], morsel["samesite"], morsel["path"]) == (True, "strict", "/")
    assert (shown.status_code, again.status_code, strange.status_code) == (200, 401, 401)
    assert "holdfast open" in again.text
    assert "set-cookie" not in again.headers


async def test_a_restarted_server_knows_the_browser_and_the_used_address(
    idle_engine: RunningEngine,
) -> None:
    with HttpService(idle_engine.holdfast, writes=True) as before:
        address = f"/open?token={make_link_token(before.token)}"
        async with browser_of(before) as browser:
            await browser.get(address)
            cookies = dict(browser.cookies)
    with HttpService(idle_engine.holdfast, writes=True) as after:
        async with httpx2.AsyncClient(base_url=after.url, cookies=cookies) as browser:
            known = await browser.get("/jobs")
        async with browser_of(after) as browser:
            used = await browser.get(address)

    assert (known.status_code, used.status_code) == (200, 401)


@pytest.mark.parametrize("spoil", ["signature", "expiry", "nonce", "secret", "age"])
def test_a_forged_or_old_address_signs_nobody_in(
    spoil: str, tmp_path: os.PathLike[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path

    home = Path(tmp_path)
    token = make_token(home)
    nonce, expiry, signature = make_link_token(token).split(".")
    given = {
        "signature": f"{nonce}.{expiry}.{'0' * 64}",
        "expiry": f"{nonce}.{int(expiry) + 9}.{signature}",
        "nonce": f"{'x' * 16}.{expiry}.{signature}",
        "secret": make_link_token("another installation"),
        "age": f"{nonce}.{expiry}.{signature}",
    }[spoil]
    if spoil == "age":
        monkeypatch.setattr(page_links.time, "time", lambda: float(expiry) + 1)  # type: ignore[attr-defined]

    assert not redeem_link_token(home, token, given)
    monkeypatch.undo()
    assert redeem_link_token(home, token, f"{nonce}.{expiry}.{signature}"), time.time()


async def test_an_address_leads_to_this_server_alone(serving: HttpService) -> None:
    for to in ("//evil.example", "https://evil.example", "/\\evil.example", "x"):
        async with browser_of(serving) as browser:
            token = make_link_token(serving.token)
            opened = await browser.get("/open", params={"token": token, "to": to})

        assert opened.headers["location"] == "/", to


SENDERS: list[tuple[dict[str, str], int]] = [
    ({"Sec-Fetch-Site": "same-origin"}, 303),
    ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Sec-Fetch-Site": "same-site"}, 403),
    ({"Sec-Fetch-Site": "none"}, 403),
    ({"Origin": "https://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({}, 403),
]


async def test_only_a_page_of_this_server_may_send_changes(serving: HttpService) -> None:
    for headers, status in SENDERS:
        async with browser_of(serving) as browser:
            await browser.get(f"/open?token={make_link_token(serving.token)}")
            answer = await browser.post("/sign-out", headers=headers)
            own = await browser.post("/sign-out", headers={"Origin": serving.url})

        assert (answer.status_code, own.status_code) == (status, 303), headers


async def test_a_key_signs_in_its_owner_until_it_is_revoked(serving: HttpService) -> None:
    body = {"name": "laptop", "owner": "maria", "scopes": ["read"]}
    async with serving.client() as client:
        made = (await client.post("/keys", json=body)).json()
        await client.post("/jobs", json={"question": "Who built the pier?"})
        async with browser_of(serving) as browser:
            browser.headers["Origin"] = serving.url
            wrong = await browser.post("/sign-in", data={"key": "hf_no", "to": "/jobs"})
            right = await browser.post("/sign-in", data={"key": made["key"], "to": "/jobs"})
            mine = await browser.get("/jobs")
            await client.delete(f"/keys/{made['details']['id']}")
            revoked = await browser.get("/jobs")

    assert (wrong.status_code, right.status_code, mine.status_code) == (401, 303, 200)
    assert made["key"] not in right.headers["set-cookie"]
    assert "pier" not in mine.text
    assert revoked.status_code == 401


@pytest.mark.conformance("WEB-08")
async def test_every_page_has_the_policy_and_no_inline_script(serving: HttpService) -> None:
    async with browser_of(serving) as browser:
        pages = [await browser.get("/jobs")]
        await browser.get(f"/open?token={make_link_token(serving.token)}")
        browser.headers["Accept"] = "text/html"
        pages += [await browser.get(path) for path in ("/jobs", "/jobs?status=none", "/no-page")]

    assert [page.status_code for page in pages] == [401, 200, 400, 404]
    for page in pages:
        assert page.headers["content-security-policy"].split("; ") == [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ]
        assert page.headers["x-content-type-options"] == "nosniff"
        assert " style=" not in page.text
        assert "<style" not in page.text
        assert page.text.count("<script") == page.text.count('<script type="module" src="/static/')
