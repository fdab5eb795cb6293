"""Tests for the bound of a caller's requests in a minute."""

import re
from collections.abc import Iterator

import pytest

from holdfast.api.access.access_errors import TooManyRequests
from holdfast.api.access.request_rates import RequestRates
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService


def test_each_caller_has_a_minutes_requests_of_its_own() -> None:
    now = 130.0
    rates = RequestRates(limit=2, clock=lambda: now)
    first, second = rates.count("a"), rates.count("a")

    with pytest.raises(TooManyRequests, match="2 requests in this minute") as refused:
        rates.count("a")

    assert (first["RateLimit"], second["RateLimit"]) == ('"minute";r=1;t=51', '"minute";r=0;t=51')
    assert first["RateLimit-Policy"] == '"minute";q=2;w=60'
    assert refused.value.after_s == 51
    assert rates.count("b")["RateLimit"] == '"minute";r=1;t=51'
    now = 181.0
    assert rates.count("a")["RateLimit"] == '"minute";r=1;t=60'


@pytest.fixture
def serving(idle_engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(idle_engine.holdfast) as serving:
        yield serving


@pytest.mark.slow
@pytest.mark.conformance("API-02")
async def test_answers_and_refusals_say_how_many_requests_are_left(serving: HttpService) -> None:
    answers = [
        await serving.get(path) for path in ("/jobs", "/jobs/none", "/jobs/x/report?format=md")
    ]

    for answer in answers:
        assert answer.headers["ratelimit-policy"] == '"minute";q=1200;w=60'
        assert re.fullmatch(r'"minute";r=1\d{3};t=\d{1,2}', answer.headers["ratelimit"])
