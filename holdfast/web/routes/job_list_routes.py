"""Define the list of jobs, with search, filters and paging."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from holdfast.configuration.price_settings import read_prices
from holdfast.jobs.job_lookup import newest_jobs
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.models.jobs.job_record import JobStatus
from holdfast.planning.strategies.strategy_presets import all_presets
from holdfast.storage.ledger.spending_queries import costs_of
from holdfast.web.access.page_session import PageReader
from holdfast.web.page_route import PageRoute
from holdfast.web.rendering.page_templates import page

_PAGE_SIZE = 30

router = APIRouter(route_class=PageRoute)


@router.get("/jobs")
async def list_jobs(
    session: PageReader,
    request: Request,
    q: Annotated[str, Query(max_length=200)] = "",
    status: str = "",
    preset: str = "",
    after: str = "",
) -> Response:
    """The newest jobs first; the search reads questions and answers."""
    which = JobFilter(
        limit=_PAGE_SIZE + 1,
        status=status or None,
        preset=preset or None,
        owner=session.caller.visible_owner,
        after=after or None,
        words=q,
    )
    found = await newest_jobs(session.holdfast, which)
    shown = found[:_PAGE_SIZE]
    kept = {
        name: value for name, value in (("q", q), ("status", status), ("preset", preset)) if value
    }
    return page(
        request,
        "jobs",
        jobs=shown,
        costs=await costs_of(session.holdfast.db, [each.job_id for each in shown]),
        currency=read_prices(session.holdfast.settings.config_file).currency,
        words=q,
        status=status,
        preset=preset,
        statuses=[each.value for each in JobStatus],
        presets=list(all_presets()),
        is_filtered=bool(kept),
        is_first=not after,
        first=f"/jobs?{urlencode(kept)}",
        next=f"/jobs?{urlencode({**kept, 'after': shown[-1].job_id})}"
        if len(found) > _PAGE_SIZE
        else "",
    )
