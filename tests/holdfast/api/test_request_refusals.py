"""Tests for refused HTTP requests, and for the host names that the service answers to."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def serving(unchanged_engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(unchanged_engine.holdfast, writes=True) as serving:
        yield serving


@pytest.mark.parametrize(
    ("path", "status", "error", "words"),
    [
        ("/jobs/job-x", 404, "NotFound", "there is no job 'job-x'"),
        ("/jobs/job-x/status", 404, "NotFound", "there is no job 'job-x'"),
        ("/jobs/job-x/plan", 404, "NotFound", "there is no job 'job-x'"),
        ("/jobs/job-x/report", 404, "NotFound", "there is no job 'job-x'"),
        ("/jobs/job-x/events", 404, "NotFound", "there is no job 'job-x'"),
        ("/jobs/a%00b", 404, "NotFound", "there is no job"),
        ("/jobs/%ff/events", 404, "NotFound", "there is no job"),
        ("/elsewhere", 404, "NotFound", "there is no resource at '/v1/elsewhere'"),
        ("/jobs?limit=0", 422, "BadInput", "query.limit: input should be greater"),
        ("/jobs?limit=9999", 422, "BadInput", "query.limit: input should be less"),
        ("/jobs?status=odd", 400, "BadInput", "no status 'odd'"),
        ("/jobs?preset=odd", 404, "NotFound", "'odd'"),
    ],
)
async def test_what_was_asked_wrongly_is_named(
    path: str, status: int, error: str, words: str, serving: HttpService
) -> None:
    answer = await serving.get(path)

    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert words in answer.json()["message"]


_ASKED = {"question": "Who?"}


_REFUSED_BODIES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("/jobs", {"question": " "}, "question"),
    ("/jobs", {**_ASKED, "preset": "odd"}, "preset"),
    ("/jobs", {**_ASKED, "settings": {"max_cost": -1}}, "settings.max_cost"),
    ("/jobs", {**_ASKED, "settings": {"odd": 1}}, "settings.odd"),
    ("/jobs", {**_ASKED, "model": "a b"}, "model"),
    ("/jobs", {**_ASKED, "servers": [" "]}, "servers"),
    ("/jobs", {**_ASKED, "servers": ["odd"]}, "servers"),
    ("/jobs", {**_ASKED, "collection": "odd"}, "collection"),
    ("/jobs", {**_ASKED, "follows": "job-x"}, "follows"),
    ("/estimates", {**_ASKED, "settings": {"max_cost": -1}}, "settings.max_cost"),
    (
        "/schedules",
        {"times": "daily 08:00", "ask": {**_ASKED, "settings": {"max_cost": -1}}},
        "ask.settings.max_cost",
    ),
    ("/schedules", {"times": "odd", "ask": _ASKED}, "times"),
    ("/schedules", {"times": "daily 08:00", "time_zone": "Odd", "ask": _ASKED}, "time_zone"),
    ("/schedules", {"times": "daily 08:00", "catch_up": "odd", "ask": _ASKED}, "catch_up"),
    ("/schedules", {"times": "daily 08:00", "update": "job-x"}, "update"),
    ("/keys", {"name": "a\nb", "owner": "ann"}, "name"),
    ("/keys", {"name": "laptop", "owner": "shared"}, "owner"),
    ("/webhooks", {"url": "http://a.example"}, "url"),
    ("/webhooks", {"url": "https://93.184.215.14", "job": "job-x"}, "job"),
    ("/webhooks", {"url": "https://93.184.215.14", "key": "x"}, "key"),
    ("/prune", {"older_than": "odd"}, "older_than"),
    ("/prune", {"down_to": "odd"}, "down_to"),
    ("/erasures", {}, "job"),
    ("/erasures", {"job": "job-x"}, "job"),
    ("/erasures", {"owner": "odd"}, "owner"),
)


async def test_a_refused_value_is_named_by_its_field(serving: HttpService) -> None:
    async with serving.client() as client:
        problems = [
            (field, (await client.post(path, json=body)).json())
            for path, body, field in _REFUSED_BODIES
        ]

    for field, problem in problems:
        assert problem["status"] in (400, 404)
        assert problem["errors"] == [{"field": f"body.{field}", "message": problem["detail"]}]


_TEXT_FILE = ("a.txt", b"text")


_REFUSED_FORMS: tuple[tuple[str, Any, dict[str, str], str], ...] = (
    ("/collections/c/documents", [("metadata", (None, "{}"))], {}, "files"),
    ("/collections/c/documents", [("files", ("../a.txt", b"text"))], {}, "files"),
    ("/collections/c/documents", [("files", _TEXT_FILE)], {"metadata": "[]"}, "metadata"),
    ("/collections/c/documents", [("files", _TEXT_FILE)], {"metadata": '{"a":""}'}, "metadata"),
    ("/collections/c/documents", [("files", _TEXT_FILE)], {"language": "odd"}, "language"),
    ("/collections/c/documents", [("files", _TEXT_FILE)], {"replace": "odd"}, "replace"),
    ("/collections/c/documents", [("files", _TEXT_FILE)], {"odd": "1"}, "odd"),
    ("/bundles", [("bundle", _TEXT_FILE)], {}, "bundle"),
    ("/bundles/check", [("bundle", _TEXT_FILE)], {}, "bundle"),
    ("/bundles", [("odd", _TEXT_FILE)], {}, "odd"),
)


async def test_a_refused_field_of_a_form_is_named(serving: HttpService) -> None:
    async with serving.client() as client:
        problems = [
            (field, (await client.post(path, files=files, data=form)).json())
            for path, files, form, field in _REFUSED_FORMS
        ]

    for field, problem in problems:
        assert problem["status"] == 400
        assert problem["errors"] == [{"field": f"body.{field}", "message": problem["detail"]}]


_MISSING: tuple[tuple[str, str, dict[str, Any] | None, str], ...] = (
    ("GET", "/jobs/job-x", None, "path.job"),
    ("GET", "/jobs/job-x/provenance/1", None, "path.job"),
    ("GET", "/jobs/a%00b/events", None, "path.job"),
    ("GET", "/uploads/x", None, "path.upload"),
    ("GET", "/schedules/x", None, "path.schedule"),
    ("DELETE", "/keys/x", None, "path.key"),
    ("DELETE", "/webhooks/x", None, "path.webhook"),
    ("GET", "/collections/x/documents", None, "path.collection"),
    ("POST", "/collections/a%00b/search", {"query": "x"}, "path.collection"),
    ("DELETE", "/quotas/owner/x", None, "path.subject"),
    ("PUT", "/quotas/key/x", {"calls": 1}, "path.subject"),
    ("PUT", "/quotas/owner/x", {}, "body.calls"),
)


async def test_what_a_path_names_wrongly_is_named_as_a_part_of_the_path(
    serving: HttpService,
) -> None:
    async with serving.client() as client:
        problems = [
            (field, (await client.request(method, path, json=body)).json())
            for method, path, body, field in _MISSING
        ]
        model = (await client.get("/models/odd")).json()["error"]

    for field, problem in problems:
        assert problem["errors"] == [{"field": field, "message": problem["detail"]}]
    assert model["param"] == "path.model"


async def test_words_that_no_question_can_have_find_nothing(serving: HttpService) -> None:
    answer = await serving.get("/jobs?q=%00")

    assert (answer.status_code, answer.json()) == (200, [])


async def test_a_refused_filter_is_named_as_a_part_of_the_query(serving: HttpService) -> None:
    for name in ("status", "preset", "after"):
        problem = (await serving.get(f"/jobs?{name}=odd")).json()

        assert problem["errors"] == [{"field": f"query.{name}", "message": problem["detail"]}]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil_one.example:80", "[::1", "localhost.evil", ""]
)
async def test_a_page_that_has_its_own_name_lead_here_reads_nothing(
    host: str, serving: HttpService
) -> None:
    answer = await serving.get("/jobs", Host=host)

    assert answer.status_code == 400


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:80", "LOCALHOST:8765"])
async def test_it_may_be_called_by_each_of_its_names(host: str, serving: HttpService) -> None:
    assert (await serving.get("/jobs", Host=host)).json() == []


async def test_a_body_that_names_no_length_is_bounded_too(serving: HttpService) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b" " * 100_000

    async with serving.client() as client:
        answer = await client.post("/jobs", content=parts())

    assert answer.status_code == 413
    assert "at most 2,000,000 bytes" in answer.json()["message"]
