"""Check every part of an installation and say how to repair each fault."""

import asyncio
import os
import platform
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from holdfast.models.errors import BadConfiguration, HoldfastError, ServiceDown
from holdfast.services import service_discovery
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.services.service_state import check_home, load_state
from holdfast.services.worker_process import current_worker
from holdfast.settings import Endpoints, Settings, load_settings, unknown_variables

_TIMEOUT_S = 5.0
_START_HINT = "run `holdfast up`"
_BUSY_HINT = "this machine may be busy: run `holdfast doctor` again"
_UNREADABLE_FILE = "not checked: the config file has a fault"
_OLDEST_PYTHON = (3, 11)


class HealthCheckResult(BaseModel):
    """The state of one part; `remedy` is empty if nothing needs to be done."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    part: str
    status: Literal["ok", "failed", "skipped"]
    detail: str
    remedy: str = ""


class _CheckOutcome(NamedTuple):
    is_good: bool | None
    """None if there was nothing to check."""
    detail: str
    remedy: str = ""


_Check = Callable[[Settings, Endpoints | None], Coroutine[None, None, _CheckOutcome]]


async def run_health_checks() -> list[HealthCheckResult]:
    """Run all checks; return the results in the order in which to repair the faults."""
    results = [_result("Python", _python())]
    try:
        settings = load_settings()
    except BadConfiguration as error:
        remedy = "correct or unset these variables"
        return [*results, _result("settings", _CheckOutcome(False, str(error), remedy))]
    results.append(_result("settings", _variables()))
    # Load first: a client whose handshake waits for these imports reports its service as down.
    await asyncio.to_thread(_load_clients)
    endpoints = await _endpoints(settings)
    outcomes = await _gather(_SERVICE_CHECKS, settings, endpoints)
    if outcomes["config file"].is_good is False:
        outcomes |= dict.fromkeys(_FILE_CHECKS, _CheckOutcome(None, _UNREADABLE_FILE))
    else:
        # After the service checks: starting tool servers keeps the processor busy for seconds.
        outcomes |= await _gather(_FILE_CHECKS, settings, endpoints)
    return [*results, *(_result(part, outcome) for part, outcome in outcomes.items())]


async def _gather(
    checks: Mapping[str, _Check], settings: Settings, endpoints: Endpoints | None
) -> dict[str, _CheckOutcome]:
    outcomes = await asyncio.gather(
        *(_run_check(check, settings, endpoints) for check in checks.values())
    )
    return dict(zip(checks, outcomes, strict=True))


async def _endpoints(settings: Settings) -> Endpoints | None:
    """Return the endpoints; None if a service is down, which its own check reports."""
    try:
        return await attach_to_services(settings)
    except HoldfastError:
        return None


def _load_clients() -> None:
    """Import the modules that the checks of services need."""
    import httpx2  # noqa: F401
    import psycopg  # noqa: F401
    import temporalio.client
    import temporalio.contrib.pydantic  # noqa: F401

    import holdfast.storage.core.schema_migration  # noqa: F401


def _variables() -> _CheckOutcome:
    if unknown := unknown_variables():
        return _CheckOutcome(False, "; ".join(unknown), "correct or unset these variables")
    return _CheckOutcome(True, "every HOLDFAST_ variable is understood")


def _result(part: str, outcome: _CheckOutcome) -> HealthCheckResult:
    status: Literal["ok", "failed", "skipped"] = "ok" if outcome.is_good else "failed"
    if outcome.is_good is None:
        status = "skipped"
    return HealthCheckResult(part=part, status=status, detail=outcome.detail, remedy=outcome.remedy)


async def _run_check(
    check: _Check, settings: Settings, endpoints: Endpoints | None
) -> _CheckOutcome:
    try:
        async with asyncio.timeout(2 * _TIMEOUT_S):
            return await check(settings, endpoints)
    except TimeoutError:
        return _CheckOutcome(False, f"no answer within {2 * _TIMEOUT_S:g} s", _BUSY_HINT)
    except HoldfastError as error:
        return _CheckOutcome(False, str(error))


def _python() -> _CheckOutcome:
    is_good = sys.version_info >= _OLDEST_PYTHON
    remedy = "" if is_good else "install Holdfast with Python 3.11 or newer"
    return _CheckOutcome(is_good, f"{platform.python_version()} at {sys.executable}", remedy)


async def _home(settings: Settings, _: Endpoints | None) -> _CheckOutcome:
    check_home(settings.home)
    return _CheckOutcome(True, f"{settings.home} can be written")


async def _config_file(settings: Settings, _: Endpoints | None) -> _CheckOutcome:
    if settings.config_file is None:
        return _CheckOutcome(None, "no holdfast.toml here, and none is needed")
    from holdfast.configuration.configured_agents import read_agents
    from holdfast.configuration.price_settings import read_prices
    from holdfast.tools.mcp.server_config import read_servers

    servers = read_servers(settings.config_file)
    prices = read_prices(settings.config_file).models
    agents = read_agents(settings.config_file, has_endpoint=settings.has_model_endpoint).profiles
    named = f"{len(servers)} tool servers and {len(prices)} prices; {len(agents)} agents"
    return _CheckOutcome(True, f"{settings.config_file} names {named}")


async def _database(settings: Settings, endpoints: Endpoints | None) -> _CheckOutcome:
    url = _database_url(settings, endpoints)
    if url is None:
        return _CheckOutcome(False, "the embedded PostgreSQL is not running", _START_HINT)
    import psycopg

    plain = url.replace("postgresql+psycopg://", "postgresql://", 1)
    # The embedded server has just accepted a connection, so it is not down.
    is_embedded = endpoints is not None and endpoints.embedded_database
    remedy = _BUSY_HINT if is_embedded else "check HOLDFAST_DATABASE_URL"
    try:
        revision = await asyncio.to_thread(_revision, plain)
    except psycopg.errors.UndefinedTable:
        return _CheckOutcome(False, "PostgreSQL answers, but has no schema yet", _START_HINT)
    except psycopg.OperationalError as error:
        # Only the first line, and never the address, which may contain a password.
        first_line = str(error).partition("\n")[0]
        return _CheckOutcome(False, f"PostgreSQL does not answer: {first_line}", remedy)
    from holdfast.storage.core.schema_migration import newest_schema_version

    if revision != (head := await asyncio.to_thread(newest_schema_version)):
        return _CheckOutcome(
            False, f"the schema is {revision}, this version needs {head}", _START_HINT
        )
    return _CheckOutcome(True, f"PostgreSQL answers, schema {revision}")


def _database_url(settings: Settings, endpoints: Endpoints | None) -> str | None:
    if endpoints:
        return endpoints.database_url
    return settings.database_url.get_secret_value() if settings.database_url else None


def _revision(plain_url: str) -> str:
    import psycopg

    with psycopg.connect(plain_url, connect_timeout=int(_TIMEOUT_S)) as connection:
        row = connection.execute("select version_num from alembic_version").fetchone()
    return str(row[0]) if row else "empty"


async def _temporal(settings: Settings, endpoints: Endpoints | None) -> _CheckOutcome:
    if endpoints is None and settings.uses_embedded_temporal:
        return _CheckOutcome(False, "the embedded Temporal is not running", _START_HINT)
    from holdfast.temporal.temporal_connection import connect, missing_search_attributes

    where = endpoints or service_discovery.service_endpoints(settings, load_state(settings.home))
    at = f"{where.temporal_address}, namespace {where.temporal_namespace}"
    try:
        client = await connect(settings, where)
    except ServiceDown:
        if endpoints is None or not endpoints.embedded_temporal:
            raise
        # The embedded server has just accepted a connection, so it is not down.
        return _CheckOutcome(False, f"{at}: listens, but a client got no answer", _BUSY_HINT)
    if missing := await missing_search_attributes(client):
        return _CheckOutcome(
            False, f"{at}: search attributes {', '.join(missing)} are missing", _START_HINT
        )
    return _CheckOutcome(True, f"{at}: answers, search attributes are registered")


async def _temporal_ui(settings: Settings, endpoints: Endpoints | None) -> _CheckOutcome:
    from holdfast.temporal.temporal_connection import ui_base

    base = ui_base(settings, endpoints) if endpoints else settings.temporal_ui_url
    if base is None:
        if endpoints is None:
            return _CheckOutcome(None, "not checked: a service is not running")
        return _CheckOutcome(None, "no address known; HOLDFAST_TEMPORAL_UI_URL would add links")
    status = await _get(base)
    if isinstance(status, int):
        return _CheckOutcome(True, f"{base} answers")
    return _CheckOutcome(
        False, f"{base} does not answer ({status})", "check the address, or " + _START_HINT
    )


async def _worker(settings: Settings, endpoints: Endpoints | None) -> _CheckOutcome:
    log = settings.home / "logs" / "worker.log"
    if service_discovery.is_worker_running(settings):
        if worker := current_worker(settings.home):
            return _CheckOutcome(True, f"this machine's worker runs (pid {worker.pid}), supervised")
        remedy = f"see why in its log, {log}"
        return _CheckOutcome(
            False, "the worker died, and its supervisor is starting another", remedy
        )
    if endpoints and not (endpoints.embedded_database or endpoints.embedded_temporal):
        return _CheckOutcome(None, "none on this machine; `holdfast up` starts one")
    return _CheckOutcome(
        False, "no worker runs on this machine", f"{_START_HINT}; its log is {log}"
    )


async def _model(settings: Settings, _: Endpoints | None) -> _CheckOutcome:
    if not settings.has_model_endpoint:
        return _CheckOutcome(None, "`extractive` is built in and needs no endpoint")
    key = settings.openai_api_key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    base = settings.openai_base_url.rstrip("/")
    status = await _get(f"{base}/models", headers)
    if isinstance(status, str):
        return _CheckOutcome(False, f"{base} does not answer ({status})", "check OPENAI_BASE_URL")
    if status in {401, 403}:
        wrong = "refuses the key" if key else "needs a key"
        return _CheckOutcome(
            False, f"{base} {wrong} ({status})", "set OPENAI_API_KEY to a valid key"
        )
    if status == 404:
        # Not every OpenAI-compatible server lists its models.
        return _CheckOutcome(True, f"{base} answers, without a list of models")
    if status >= 400:
        return _CheckOutcome(
            False, f"{base} answers {status}", "check OPENAI_BASE_URL, or try later"
        )
    return _CheckOutcome(True, f"{base} answers and takes {'the key' if key else 'no key'}")


async def _web(settings: Settings, _: Endpoints | None) -> _CheckOutcome:
    from holdfast.tools.web.web_search import configure_providers
    from holdfast.tools.web.web_settings import read_web_settings

    table = read_web_settings(settings.config_file)
    if table is None:
        return _CheckOutcome(None, "off; a table [web] in holdfast.toml turns it on")
    providers = configure_providers(table.providers, os.environ)
    if lacking := [each for each in providers if each.lacks_key]:
        names = ", ".join(f"{each.name} ({each.key_env} is not set)" for each in lacking)
        remedy = "set the variable where the worker runs, or take the provider out of holdfast.toml"
        return _CheckOutcome(False, f"on, but without the key of {names}", remedy)
    named = ", ".join(f"{each.name} (key set)" if each.key_env else each.name for each in providers)
    return _CheckOutcome(True, f"on; search by {named or 'no provider: pages can only be read'}")


async def _wikipedia(settings: Settings, _: Endpoints | None) -> _CheckOutcome:
    from holdfast.tools.web.web_settings import read_wikipedia_settings

    table = read_wikipedia_settings(settings.config_file)
    if table is None:
        return _CheckOutcome(None, "off; a table [wikipedia] in holdfast.toml turns it on")
    return _CheckOutcome(True, f"on, at {table.api}")


async def _builtin(settings: Settings, _: Endpoints | None) -> _CheckOutcome:
    from holdfast.configuration.builtin_tool_servers import open_builtin_servers, unconnected_corpus
    from holdfast.tools.mcp.server_config import read_servers
    from holdfast.tools.mcp.tool_hub import Hub

    own = read_servers(settings.config_file) if settings.config_file else {}
    async with open_builtin_servers(settings, unconnected_corpus()) as servers:
        hub = Hub(own, servers)  # as the worker makes it: a name may be in use
        there = ", ".join(sorted(servers.keys() - hub.missing.keys()))
        return _CheckOutcome(True, "; ".join([there, *(m.reason for m in hub.missing.values())]))


async def _get(address: str, headers: dict[str, str] | None = None) -> int | str:
    """Return the status of the response, or the reason why there is no response."""
    import httpx2

    try:
        async with httpx2.AsyncClient(timeout=_TIMEOUT_S) as client:
            return (await client.get(address, headers=headers)).status_code
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        return type(error).__name__


_SERVICE_CHECKS: Mapping[str, _Check] = {
    "home": _home,
    "config file": _config_file,
    "database": _database,
    "Temporal": _temporal,
    "Temporal UI": _temporal_ui,
    "worker": _worker,
    "model endpoint": _model,
}
_FILE_CHECKS: Mapping[str, _Check] = {
    "built-in tools": _builtin,
    "web": _web,
    "wikipedia": _wikipedia,
}
"""These read the config file."""
