"""Tests that plans of thousands of tasks stay usable, and that their changes can be stepped through."""

import html
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from holdfast.jobs.waterfall import waterfall
from holdfast.models.calls.call_records import CallView
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan, Task, TaskKind
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import plan_change_rows
from holdfast.web.access.page_links import make_link_token
from tests.support.jobs.running_engine import RunningEngine
from tests.support.long_parameters import only_long
from tests.support.services.http_service import HttpService

pytestmark = pytest.mark.slow

JOB = "job-large"
MOST_BYTES = 200_000


@pytest.fixture
def serving(idle_engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(idle_engine.holdfast, writes=True) as serving:
        yield serving


def tree(count: int) -> list[Task]:
    return [
        Task(
            id=f"T{n}",
            kind=TaskKind.REASONING,
            description=f"Find out part {n} of the question about the pier",
            depends_on=(f"T{(n - 1) // 2}",) if n else (),
        )
        for n in range(count)
    ]


async def store_job(engine: RunningEngine, tasks: Sequence[Task]) -> None:
    """A job whose plan of these tasks lost its last task to a continuation."""
    request = JobRequest(question="Who?", preset="kpi-chain", model="m", strategy=Strategy())
    await job_rows.submit_job(engine.db, JOB, request, None)
    epoch = await job_rows.begin_job_run(engine.db, JOB, "run-1")
    last = tasks[-1]
    added = last.with_id(f"{last.id}a").with_description("Ask the register instead", "")
    planned = PlanChange(cause=PlanChangeCause.PLANNED, added=tuple(tasks))
    replanned = PlanChange(
        cause=PlanChangeCause.REPLANNED,
        added=(added,),
        superseded=(last.id,),
        failed_task=last.id,
        explanation="the document is missing",
    )
    async with engine.db.job(JOB, epoch) as write:
        await plan_change_rows.store_change(write, Plan(), planned)
        await plan_change_rows.store_change(write, Plan(tasks=tuple(tasks)), replanned)


async def shown(serving: HttpService, query: str = "") -> str:
    async with httpx2.AsyncClient(base_url=serving.url, trust_env=False, timeout=60) as browser:
        await browser.get(f"/open?token={make_link_token(serving.token)}")
        answer = await browser.get(f"/jobs/{JOB}{query}")
    assert answer.status_code == 200, answer.text[:2000]
    return answer.text


def place_of(page: str, task: str) -> str:
    box = re.search(rf'id="box-{task}" class="t ([a-z]+).*?<svg (x="\d+" y="\d+")', page)
    assert box is not None
    return box[2]


@pytest.mark.conformance("WEB-05")
@pytest.mark.long
async def test_changes_of_the_plan_are_stepped_through_with_their_causes(
    serving: HttpService, idle_engine: RunningEngine
) -> None:
    await store_job(idle_engine, tree(7))

    now, before = await shown(serving), await shown(serving, "?revision=1")

    assert "Change 2 of 2: planned again" in now
    assert "The document is missing" in now
    assert "Change 1 of 2: the plan was made" in before
    assert 'id="box-T6" class="t gone"' in now
    assert 'id="box-T6" class="t pending"' in before
    assert 'id="box-T6a" class="t later"' in before
    assert [place_of(now, f"T{n}") for n in range(7)] == [
        place_of(before, f"T{n}") for n in range(7)
    ]


@pytest.mark.long
async def test_links_to_other_tasks_in_the_panel_keep_what_else_is_chosen(
    serving: HttpService, idle_engine: RunningEngine
) -> None:
    await store_job(idle_engine, [*tree(7), tree(7)[0].with_id("T2.1").with_parent("T2")])
    kept = "&revision=1&phase=2&start=1&row=1"

    page = html.unescape(await shown(serving, f"?task=T2{kept}"))

    panel = page[page.index('<aside id="task"') :]
    for task in ("T0", "T2.1"):
        assert f'data-choose="task" href="/jobs/{JOB}?task={task}{kept}">{task}</a>' in panel


@pytest.mark.conformance("WEB-05")
@pytest.mark.parametrize("count", [2000, only_long(500)])
@pytest.mark.long
async def test_a_large_plan_is_folded_and_its_page_is_small(
    count: int, serving: HttpService, idle_engine: RunningEngine
) -> None:
    await store_job(idle_engine, tree(count))

    page, chosen = await shown(serving), await shown(serving, "?task=T100")

    assert f"The plan has {count:,} tasks" in page
    assert page.count('class="t ') == 0
    assert 'id="box-T100" class="t pending selected"' in chosen
    assert all(f'id="box-T{n}"' in chosen for n in (49, 201, 202))
    assert len(page.encode()) < MOST_BYTES


@pytest.mark.conformance("WEB-05")
async def test_every_task_of_a_large_plan_is_reached_by_links(
    serving: HttpService, idle_engine: RunningEngine
) -> None:
    chain = [
        Task(
            id=f"T{n}",
            kind=TaskKind.REASONING,
            description="Go on",
            depends_on=(f"T{n - 1}",) if n else (),
        )
        for n in range(450)
    ]
    await store_job(idle_engine, chain)
    seen: list[str] = []
    query: str | None = ""
    while query is not None:
        page = await shown(serving, query)
        seen += re.findall(r'id="row-(T\w+)"', page)
        later = re.search(r'href="/jobs/[^"?]*([^"]*)#tasks" rel="next">Later', page)
        query = html.unescape(later[1]) if later else None
    phase = await shown(serving, "?phase=436")

    assert seen == [f"T{n}" for n in range(449)] + ["T449", "T449a"]
    assert page.count('id="phase-') == 30
    assert re.findall(r'id="row-(T\w+)"', phase) == [*(f"T{n}" for n in range(435, 450)), "T449a"]
    assert "Tasks of phases 436 to 450" in phase


def test_bars_that_nobody_could_tell_apart_are_one() -> None:
    begin = datetime(2026, 11, 27, tzinfo=UTC)
    calls = [
        CallView(
            id=n,
            kind="tool",
            role="",
            name="corpus.search",
            task="T1",
            status="done",
            started_at=begin + timedelta(seconds=n),
            finished_at=begin + timedelta(seconds=n + 1),
            tokens={},
            cost=None,
            reused=0,
            sends=1,
            request_hash="",
            is_repeated=False,
            error="",
        )
        for n in range(3000)
    ]

    (row,) = waterfall([], calls, [], begin, begin + timedelta(seconds=6000)).rows

    assert [(bar.kind, bar.start, bar.width) for bar in row.bars] == [
        ("task", 0.0, 50.0),
        ("tool", 0.0, pytest.approx(50.0, abs=0.5)),
    ]
