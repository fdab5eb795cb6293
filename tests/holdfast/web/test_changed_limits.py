"""Tests that a form changes the limits that its user changed, and says what it did."""

from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.models.errors import BadInput, HoldfastError, ServiceDown, StorageAway
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.planning.questions.answer_choices import AnswerChoice
from holdfast.storage.jobs import job_rows
from holdfast.web.rendering.amounts import limit_settings, plain_number
from holdfast.web.routes import control_routes
from holdfast.web.routes.control_routes import (
    LimitName,
    answer_from_page,
    change_limit_from_page,
)


class ControlledJob:
    """A job that records how it is controlled; `away` is what a resumption raises."""

    id = "job-x"
    holdfast = SimpleNamespace(db=None)

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        status: JobStatus = JobStatus.RUNNING,
        *,
        away: HoldfastError | None = None,
        **limits: Any,
    ) -> None:
        self.did: list[Any] = []
        self.away = away
        self.stored = SimpleNamespace(
            status=status, request=SimpleNamespace(strategy=Strategy(**limits))
        )
        monkeypatch.setattr(job_rows, "load_job", self._load)
        monkeypatch.setattr(control_routes, "find_open_question", self._load)

    async def _load(self, *_: object) -> Any:
        return self.stored

    @property
    def controller(self) -> Any:
        return self

    async def pause(self, job_id: str) -> None:
        self.did.append("pause")

    async def resume(self, job_id: str, strategy: Strategy) -> None:
        self.did.append((strategy.max_cost, strategy.max_tokens))
        if self.away:
            raise self.away

    async def answer(self, job_id: str, question: int, choice: str, words: str) -> None:
        self.did.append(words)

    async def limit(
        self, max_cost: str = "", max_tokens: str = "", *, unlimited: tuple[LimitName, ...] = ()
    ) -> str:
        job: Any = self
        answer = await change_limit_from_page(job, max_cost, max_tokens, unlimited)
        return answer.headers["location"].partition("did=")[2]

    async def raised(self, max_cost: str = "", max_tokens: str = "") -> str:
        job: Any = self
        answer = await answer_from_page(
            job, 1, AnswerChoice.RAISE, max_cost=max_cost, max_tokens=max_tokens
        )
        return answer.headers["location"].partition("did=")[2]


async def test_a_limit_that_was_not_changed_is_refused_before_the_job_is_paused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = ControlledJob(monkeypatch, max_cost=0.00005, max_tokens=4000)

    for fields in (("", ""), ("0.00005", ""), ("", "4,000"), ("0.00005", "4000")):
        with pytest.raises(BadInput, match="no limit was changed: an empty field keeps its limit"):
            await job.limit(*fields)
    assert job.did == []
    assert await job.limit("0.00005", "5000") == "limited"
    assert job.did == ["pause", (0.00005, 5000)]


async def test_a_limit_is_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    job = ControlledJob(monkeypatch, JobStatus.PAUSED, max_cost=0.5, max_tokens=4000)

    assert await job.limit("0.5", unlimited=("max_cost",)) == "limited"
    assert job.did == [(None, 4000)]
    with pytest.raises(BadInput, match="the limit in money has a new number and is to be taken"):
        await job.limit("0.8", unlimited=("max_cost",))
    assert job.did == [(None, 4000)]


def test_a_small_limit_is_shown_as_the_form_takes_it() -> None:
    assert plain_number(5e-05) == "0.00005"
    assert limit_settings(plain_number(5e-05)) == {"max_cost": 5e-05}


async def test_work_that_began_without_a_limit_is_said_to_finish_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert await ControlledJob(monkeypatch).limit("2") == "limited-next"
    assert await ControlledJob(monkeypatch, JobStatus.PAUSED).limit("2") == "limited"


@pytest.mark.parametrize("away", [ServiceDown("Temporal is away"), StorageAway("away")])
async def test_a_job_that_stays_paused_for_its_limit_is_said_to_be_paused(
    away: HoldfastError, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = ControlledJob(monkeypatch, away=away)

    assert await running.limit("2") == "paused-for-limit"
    assert running.did == ["pause", (2, None)]
    with pytest.raises(type(away)):
        await ControlledJob(monkeypatch, JobStatus.PAUSED, away=away).limit("2")


async def test_a_job_at_its_limit_takes_one_new_limit_or_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = ControlledJob(monkeypatch, JobStatus.PAUSED, max_cost=0.5, max_tokens=4000)

    assert await job.raised("", "5,000") == "answered"
    assert await job.raised("0.75") == "answered"
    assert await job.raised("1", "5,000") == "limited"
    assert job.did == ["max_tokens=5000", "max_cost=0.75", (1, 5000)]
    for fields, fault in {
        ("", ""): "give a new limit",
        ("", "3000"): "the limit in tokens is 4000 already, so the job has no room under 3000",
        ("0.5", "5000"): "the limit in money is 0.5 already",
    }.items():
        with pytest.raises(BadInput, match=fault):
            await job.raised(*fields)
