"""Define the pages of the installation: models and tools, spend, health."""

from fastapi import APIRouter, Request, Response

from holdfast.capabilities.agent_lines import agent_lines
from holdfast.capabilities.loaded_tools import load_tools
from holdfast.capabilities.model_lines import model_lines
from holdfast.configuration.configured_agents import read_agents
from holdfast.configuration.price_settings import read_prices
from holdfast.services.checks.health_checks import run_health_checks
from holdfast.storage.views.earlier_job_amounts import load_spend_by_day
from holdfast.storage.views.statistics_queries import run_statistics
from holdfast.web.access.page_session import PageAdministrator, PageReader
from holdfast.web.page_route import PageRoute
from holdfast.web.rendering.page_templates import page

_DAYS = 60

router = APIRouter(route_class=PageRoute)


@router.get("/models")
async def show_models(session: PageReader, request: Request) -> Response:
    """The models with their roles and faults, the agents, and the tools with what is missing."""
    settings = session.holdfast.settings
    tools = await load_tools(settings)
    return page(
        request,
        "models",
        models=model_lines(settings),
        currency=read_prices(settings.config_file).currency,
        agents=agent_lines(read_agents(settings.config_file), tools.signatures),
        tools=tools.signatures,
        faults=(*tools.faults, *(each.reason for each in tools.missing.values())),
    )


@router.get("/spend")
async def show_spend(session: PageAdministrator, request: Request) -> Response:
    """What all jobs spent: by day, phase, role and model."""
    holdfast = session.holdfast
    currency = read_prices(holdfast.settings.config_file).currency
    days = await load_spend_by_day(holdfast.db, _DAYS)
    return page(
        request,
        "spend",
        stats=await run_statistics(holdfast.db, None, currency),
        days=days,
        days_counted=_DAYS,
        most=max((each.input_tokens + each.output_tokens for each in days), default=0),
    )


@router.get("/health")
async def show_health(_: PageAdministrator, request: Request) -> Response:
    """Each part of the installation, with the way to repair what is broken."""
    return page(request, "health", results=await run_health_checks())
