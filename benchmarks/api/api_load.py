"""Measure what one HTTP server takes: followers, many jobs, many submissions at once."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text

from benchmarks.api.served_installation import ServedInstallation, served_installation
from benchmarks.setup.benchmark_figures import MeasuredFigure
from benchmarks.setup.job_graphs import chain_graph
from holdfast.python_client.answers import Event
from holdfast.python_client.event_parser import EventParser
from holdfast.storage.core.database import Database

CHAIN = chain_graph(20)
SHORT = chain_graph(5)
_COLUMNS = text("""
select string_agg(quote_ident(column_name), ', ' order by ordinal_position)
from information_schema.columns
where table_schema = 'public' and table_name = :name and is_generated = 'NEVER'
    and column_name <> all(:changed)
""")
_PAUSE_AFTER_LIMIT_S = 61.0


async def measure(
    submits: int = 200, jobs: int = 10_000, followed: int = 50, followers: int = 500
) -> list[MeasuredFigure]:
    """All figures of the API, in one installation whose database grows."""
    async with served_installation() as served:
        figures = await _first_events(served, rounds=20)
        figures += await _submissions(served, submits)
        # A token sends at most 1,200 requests in a minute.
        await asyncio.sleep(_PAUSE_AFTER_LIMIT_S if followers + 2 * submits > 1000 else 0)
        figures += await _followers(served, followed, followers)
        await asyncio.sleep(_PAUSE_AFTER_LIMIT_S if followers + 2 * submits > 1000 else 0)
        return figures + await _many_jobs(served, jobs)


async def _first_events(served: ServedInstallation, rounds: int) -> list[MeasuredFigure]:
    body = served.body(SHORT)

    async def first_event() -> None:
        job_id = (await served.http.post("/jobs", json=body)).json()["job_id"]
        async with served.http.stream("GET", f"/jobs/{job_id}/events") as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data:"):
                    return

    return await _percentiles("submit to first event", first_event, rounds)


async def _submissions(served: ServedInstallation, number: int) -> list[MeasuredFigure]:
    body = served.body(SHORT)

    async def submitted(key: str) -> str:
        answer = await served.http.post("/jobs", json=body, headers={"Idempotency-Key": key})
        return str(answer.json()["job_id"])

    begin = time.perf_counter()
    same = await asyncio.gather(*(submitted("one") for _ in range(number)))
    middle = time.perf_counter()
    different = await asyncio.gather(*(submitted(f"key-{n}") for n in range(number)))
    end = time.perf_counter()
    await asyncio.gather(*(served.http.post(f"/jobs/{each}/cancel") for each in different))
    return [
        MeasuredFigure(f"jobs of {number} submits, one key", len(set(same)), "jobs", 1),
        MeasuredFigure("  together", middle - begin, "s"),
        MeasuredFigure(f"jobs of {number} submits, own keys", len(set(different)), "jobs", number),
        MeasuredFigure("  together", end - middle, "s"),
    ]


async def _followers(served: ServedInstallation, jobs: int, number: int) -> list[MeasuredFigure]:
    body = served.body(CHAIN)
    before = served.server_mb
    answers = [await served.http.post("/jobs", json=body) for _ in range(jobs)]
    ids = [answer.json()["job_id"] for answer in answers]
    late: list[float] = []
    counts = await asyncio.gather(
        *(_follow(served, ids[n % jobs], late) for n in range(number)), _peak(served, number)
    )
    peak = float(counts[-1])
    stored = [(await served.installation.holdfast.show(each)).status for each in ids]
    late.sort()
    return [
        MeasuredFigure(f"{number} followers of {jobs} jobs: events received", len(late), "events"),
        MeasuredFigure("  jobs done", stored.count("done"), "jobs"),
        MeasuredFigure("  lateness, p50", late[len(late) // 2], "s"),
        MeasuredFigure("  lateness, p95", late[len(late) * 95 // 100], "s", 2.0),
        MeasuredFigure("  memory of the server before", before, "MB"),
        MeasuredFigure("  memory of the server, peak", peak, "MB"),
    ]


async def _follow(served: ServedInstallation, job_id: str, late: list[float]) -> int:
    """Follow to the end; note how late each event of a running job came."""
    parser, seen, begin = EventParser(), 0, datetime.now(UTC)
    async with served.http.stream("GET", f"/jobs/{job_id}/events") as answer:
        async for line in answer.aiter_lines():
            item = parser.feed(line)
            if isinstance(item, Event):
                seen += 1
                # What was stored before the connection came says nothing.
                if item.at > begin:
                    late.append((datetime.now(UTC) - item.at).total_seconds())
            elif item is not None:
                return seen
    return seen


async def _peak(served: ServedInstallation, number: int) -> int:
    peak, quiet = 0.0, 0
    while quiet < _QUIET:
        await asyncio.sleep(0.5)
        connections = len(served.server.net_connections("tcp"))
        peak = max(peak, served.server_mb)
        quiet = quiet + 1 if connections < number // 10 else 0
    return round(peak)


_QUIET = 4


async def _many_jobs(served: ServedInstallation, number: int) -> list[MeasuredFigure]:
    job_id = (await served.http.post("/jobs", json=served.body(CHAIN))).json()["job_id"]
    await served.installation.holdfast.wait(job_id)
    await _multiply(served.installation.holdfast.db, job_id, number)
    deep = (await served.http.get("/jobs?limit=1000")).json()[-1]["job_id"]
    asked = {
        "list": "/jobs",
        "list, 1000 at once": "/jobs?limit=1000",
        "list, further back": f"/jobs?after={deep}",
        "list by status": "/jobs?status=done",
        "list by preset": "/jobs?preset=kpi-chain",
        "list by words of one job": f"/jobs?q=copy-{number // 2}-",
        "list by absent words": "/jobs?q=nowhere-to-be-found",
        "show": f"/jobs/{job_id}",
        "log": f"/jobs/{job_id}/log",
        "statistics of all jobs": "/statistics",
    }
    figures = [MeasuredFigure("jobs in the database", number, "jobs")]
    for name, path in asked.items():

        async def get(path: str = path) -> None:
            (await served.http.get(path)).raise_for_status()

        figures += await _percentiles(name, get, 20)
    return figures


async def _multiply(db: Database, job_id: str, number: int) -> None:
    """Copy the job and its tasks, so that the database has as many jobs of 20 tasks."""
    async with db.writing() as connection:
        jobs = await _columns(connection, "jobs", ("id", "question", "request_key", "created_at"))
        await connection.execute(
            text(f"""
                insert into jobs (id, question, created_at, {jobs})
                select id || '-' || n, 'copy-' || n || '- ' || question,
                    created_at - n * interval '1 minute', {jobs}
                from jobs cross join generate_series(1, :number) as n where id = :job
            """),
            {"number": number, "job": job_id},
        )
        for name in ("tasks", "events", "plan_changes"):
            rest = await _columns(connection, name, ("job_id",))
            await connection.execute(
                text(f"""
                    insert into {name} (job_id, {rest}) select job_id || '-' || n, {rest}
                    from {name} cross join generate_series(1, :number) as n where job_id = :job
                """),
                {"number": number, "job": job_id},
            )
    async with db.writing() as connection:
        for name in ("jobs", "tasks", "events"):
            await connection.execute(text(f"analyze {name}"))


async def _columns(connection: Any, name: str, changed: Sequence[str]) -> str:  # noqa: ANN401 - SQLAlchemy's
    found = await connection.execute(_COLUMNS, {"name": name, "changed": list(changed)})
    return str(found.scalar_one())


async def _percentiles(
    what: str, act: Callable[[], Awaitable[None]], rounds: int
) -> list[MeasuredFigure]:
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        await act()
        times.append((time.perf_counter() - begin) * 1000)
    times.sort()
    return [
        MeasuredFigure(f"{what}, p50", times[rounds // 2], "ms"),
        MeasuredFigure(f"{what}, p95", times[rounds * 95 // 100], "ms"),
    ]
