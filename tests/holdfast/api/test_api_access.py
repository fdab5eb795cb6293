"""Tests for who may use the HTTP API: without the installation's token nobody reads anything."""

import stat
from collections import defaultdict
from collections.abc import Iterator

import httpx2
import pytest

from holdfast.api.access.installation_token import make_token, token_file
from holdfast.api.application import build_application
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

pytestmark = pytest.mark.slow

OPEN_PATHS = {"/v1/health", "/v1/ready"}
ROUTES = sorted(
    (method.upper(), path)
    for path, methods in build_application(None, None).openapi()["paths"].items()  # type: ignore[arg-type]  # serves nothing
    for method in methods
)


@pytest.fixture
def serving(idle_engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(idle_engine.holdfast) as serving:
        yield serving


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Bearer", "Basic dTpw"])
async def test_no_route_answers_without_a_key(header: str | None, serving: HttpService) -> None:
    headers = {} if header is None else {"Authorization": header}
    refused = set()
    async with httpx2.AsyncClient(base_url=serving.url, trust_env=False, timeout=30) as client:
        for method, path in ROUTES:
            answer = await client.request(method, _example_of(path), headers=headers)
            if answer.status_code == 401:
                error = answer.json()["error"]
                # OpenAI's clients read another form.
                assert (error if isinstance(error, str) else error["code"]) == "KeyMissing"
                assert answer.headers["www-authenticate"] == "Bearer"
                refused.add((method, path))

    assert set(ROUTES) - refused == {("GET", path) for path in OPEN_PATHS}


def _example_of(path: str) -> str:
    names = {"job": "job-1", "collection": "c", "sha256": "0"}
    return path.format_map(defaultdict(lambda: "1", names))


async def test_the_token_is_made_once_and_only_its_owner_reads_it(
    idle_engine: RunningEngine,
) -> None:
    home = idle_engine.holdfast.settings.home

    first, second = make_token(home), make_token(home)

    assert first == second
    assert len(first) > 40
    assert stat.S_IMODE(token_file(home).stat().st_mode) == 0o600
