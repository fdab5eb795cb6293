"""Define the routes of what the installation offers, and of its health."""

from collections.abc import Mapping

from fastapi import APIRouter, Request
from pydantic import Field, JsonValue

from holdfast.api.api_context import Administrator, Reader, context_of
from holdfast.capabilities.agent_lines import AgentLine, agent_lines
from holdfast.capabilities.loaded_tools import load_tools
from holdfast.capabilities.model_checks import ModelCheck, check_each_model, models_to_check
from holdfast.capabilities.model_lines import ModelLine, model_lines
from holdfast.configuration.configured_agents import read_agents
from holdfast.configuration.price_settings import read_prices
from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.frozen_model import Frozen
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.views.job_views import Stats
from holdfast.planning.strategies.strategy_presets import Preset, all_presets
from holdfast.services.checks.health_checks import HealthCheckResult, run_health_checks
from holdfast.storage.views.statistics_queries import run_statistics
from holdfast.temporal.temporal_connection import connect

router = APIRouter(tags=["installation"])


class Liveness(Frozen):
    """The server answers."""

    status: str = "ok"


class SettingLine(Frozen):
    """A setting of a job."""

    name: str
    meaning: str
    default: JsonValue


class ModelCheckBody(Frozen):
    """Models to check."""

    names: tuple[str, ...] = Field(
        default=(), max_length=20, description="By default every model of `holdfast.toml`."
    )


class ToolList(Frozen):
    """The tools that agents can use, and why others are missing."""

    tools: tuple[ToolSignature, ...]
    faults: tuple[str, ...]


@router.get("/health")
async def show_liveness() -> Liveness:
    """The server answers; this needs no key."""
    return Liveness()


@router.get("/ready")
async def show_readiness(request: Request) -> Liveness:
    """PostgreSQL and Temporal answer, so jobs can be submitted; this needs no key."""
    holdfast = context_of(request).holdfast
    async with holdfast.db.reading() as connection:
        await connection.exec_driver_sql("select 1")
    await connect(holdfast.settings, holdfast.endpoints)
    return Liveness()


@router.get("/presets")
async def list_presets(_: Reader) -> Mapping[str, Preset]:
    """The named strategies, with their meaning and their settings."""
    return all_presets()


@router.get("/settings")
async def list_settings(_: Reader) -> list[SettingLine]:
    """The settings that a job may change, with their meaning and default."""
    defaults = Strategy().model_dump(mode="json")
    return [
        SettingLine(name=name, meaning=field.description or "", default=defaults[name])
        for name, field in Strategy.model_fields.items()
    ]


@router.get("/configured-models")
async def list_models(session: Reader) -> list[ModelLine]:
    """The models of the installation, with endpoint, price and roles."""
    return model_lines(session.holdfast.settings)


@router.post("/configured-models/check")
async def check_models(session: Administrator, body: ModelCheckBody) -> list[ModelCheck]:
    """Ask models what they can do; four short paid calls for each."""
    settings = session.holdfast.settings
    return await check_each_model(models_to_check(body.names, settings), settings)


@router.get("/agents")
async def list_agents(session: Reader) -> list[AgentLine]:
    """The agents, and the tools that each can use."""
    settings = session.holdfast.settings
    tools = await load_tools(settings)
    return agent_lines(read_agents(settings.config_file), tools.signatures)


@router.get("/tools")
async def list_tools(session: Reader) -> ToolList:
    """The tools that agents can use; the tool servers are started for this."""
    tools = await load_tools(session.holdfast.settings)
    reasons = (*tools.faults, *(server.reason for server in tools.missing.values()))
    return ToolList(tools=tools.signatures, faults=reasons)


@router.get("/statistics")
async def show_statistics(session: Administrator) -> Stats:
    """Calls, tokens, recoveries and failures of all jobs."""
    holdfast = session.holdfast
    currency = read_prices(holdfast.settings.config_file).currency
    return await run_statistics(holdfast.db, None, currency)


@router.get("/doctor")
async def check_installation(_: Administrator) -> list[HealthCheckResult]:
    """Each part of the installation, with the way to repair what is broken."""
    return await run_health_checks()
