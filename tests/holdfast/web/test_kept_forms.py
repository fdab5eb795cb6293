"""Tests that a question that could not be asked comes back as it was written."""

import re
from collections.abc import AsyncIterator, Iterator

import httpx2
import pytest

from holdfast.models.errors import HoldfastError, RequestKeyTaken, ServiceDown, StorageAway
from holdfast.web.access.page_links import make_link_token
from holdfast.web.rendering.words import sentence
from holdfast.web.routes import ask_routes
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

pytestmark = pytest.mark.slow
QUESTION = "Who built the pier of 1894?"


@pytest.fixture
def serving(idle_engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(idle_engine.holdfast, writes=True) as serving:
        yield serving


@pytest.fixture
async def browser(serving: HttpService) -> AsyncIterator[httpx2.AsyncClient]:
    own = {"Origin": serving.url}
    async with httpx2.AsyncClient(
        base_url=serving.url, headers=own, trust_env=False, timeout=60
    ) as browser:
        await browser.get(f"/open?token={make_link_token(serving.token)}")
        yield browser


@pytest.mark.parametrize(
    ("error", "status", "keeps_key"),
    [
        (ServiceDown("Temporal does not answer"), 503, True),
        (StorageAway("PostgreSQL does not answer"), 503, True),
        (RequestKeyTaken("the key belongs to another request"), 400, False),
    ],
)
async def test_a_question_is_kept_with_the_fault(
    error: HoldfastError,
    status: int,
    *,
    keeps_key: bool,
    browser: httpx2.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(ask_routes, "submit_job", fail)
    answer = await browser.post("/ask", data={"question": QUESTION, "key": "mine"})
    key = re.search(r'name="key" value="([^"]+)"', answer.text)

    assert answer.status_code == status
    assert QUESTION in answer.text
    assert sentence(str(error)) in answer.text
    assert key is not None
    assert (key[1] == "mine") is keeps_key


async def test_files_of_a_question_that_cannot_be_asked_are_not_kept(
    browser: httpx2.AsyncClient, serving: HttpService
) -> None:
    files = [("files", ("pier.md", b"The pier was built by Orlan Treave."))]
    answer = await browser.post("/ask", data={"question": QUESTION, "preset": "odd"}, files=files)
    async with serving.client() as client:
        uploads = (await client.get("/uploads")).json()

    assert answer.status_code == 400
    assert "odd" in answer.text
    assert uploads == []
