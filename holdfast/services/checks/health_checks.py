"""Check every part of an installation and say how to repair each fault."""

import asyncio
import os
import platform
import sys
from collections.abc import Callable, Coroutine, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from holdfast.installed_modules import find_module_faults
from holdfast.models.errors import BadConfiguration, HoldfastError
from holdfast.models.text.secret_mask import SHORTEST_SECRET, is_plain_word
from holdfast.services import service_discovery
from holdfast.services.checks import service_checks
from holdfast.services.checks.check_outcome import BUSY_HINT, TIMEOUT_S, CheckOutcome
from holdfast.services.checks.disk_check import check_disk
from holdfast.services.checks.endpoint_checks import (
    check_default_endpoint,
    configured_endpoint_checks,
)
from holdfast.services.checks.named_servers_check import check_named_servers
from holdfast.services.checks.sandbox_check import check_sandbox
from holdfast.services.service_state import check_home, free_bytes, load_state
from holdfast.settings import Endpoints, Settings, load_settings, unknown_variables
from holdfast.temporal.payload_keyring import read_keyring
from holdfast.tools.optional_parts import OptionalPart, require_part

_UNREADABLE_FILE = "not checked: the config file has a fault"
_OLDEST_PYTHON = (3, 11)
_LEAST_FREE_BYTES = 200_000_000


class HealthCheckResult(BaseModel):
    """The state of one part; `remedy` is empty if nothing needs to be done."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    part: str
    status: Literal["ok", "failed", "skipped"]
    detail: str
    remedy: str = ""


_Check = Callable[[Settings, Endpoints | None], Coroutine[None, None, CheckOutcome]]


_LIMITS_S: Mapping[_Check, float] = {check_named_servers: 40.0}
"""A tool server may take 20 s to start, and its check then names it."""


async def run_health_checks() -> list[HealthCheckResult]:
    """Run all checks; return the results in the order in which to repair the faults."""
    packages = _packages()
    results = [_result("Python", _python()), *(_result("packages", each) for each in packages)]
    if any(each.is_good is False for each in packages):
        # The other checks import the modules at fault.
        return results
    try:
        settings = load_settings()
    except BadConfiguration as error:
        remedy = "correct or unset these variables"
        return [*results, _result("settings", CheckOutcome(False, str(error), remedy))]
    results.append(_result("settings", _variables(settings)))
    # Load first: a client whose handshake waits for these imports reports its service as down.
    await asyncio.to_thread(_load_clients)
    endpoints = _endpoints(settings)
    outcomes = await _gather(_SERVICE_CHECKS, settings, endpoints)
    if outcomes["config file"].is_good is False:
        outcomes |= dict.fromkeys(_FILE_CHECKS, CheckOutcome(None, _UNREADABLE_FILE))
    else:
        # Last come tool servers, whose start keeps the processor busy for seconds.
        for checks in (configured_endpoint_checks(settings), _FILE_CHECKS):
            outcomes |= await _gather(checks, settings, endpoints)
    return [*results, *(_result(part, outcome) for part, outcome in outcomes.items())]


async def _gather(
    checks: Mapping[str, _Check], settings: Settings, endpoints: Endpoints | None
) -> dict[str, CheckOutcome]:
    gathered = await asyncio.gather(
        *(_run_check(check, settings, endpoints) for check in checks.values())
    )
    outcomes = dict(zip(checks, gathered, strict=True))
    for part in [name for name, outcome in outcomes.items() if outcome.ran_out_of_time]:
        # The checks took time from one another: a part that is well answers a check that is alone.
        outcomes[part] = await _run_check(checks[part], settings, endpoints)
    return outcomes


def _endpoints(settings: Settings) -> Endpoints | None:
    """Return the endpoints; None if the home cannot be read, which its own check reports.

    Each service has its own check: one that is down says nothing of another.
    """
    try:
        return service_discovery.service_endpoints(settings, load_state(settings.home))
    except HoldfastError:
        return None


def _load_clients() -> None:
    """Import the modules that the checks of services need."""
    import httpx2  # noqa: F401
    import psycopg  # noqa: F401
    import temporalio.client
    import temporalio.contrib.pydantic  # noqa: F401

    import holdfast.storage.core.schema_migration  # noqa: F401


def _variables(settings: Settings) -> CheckOutcome:
    if unknown := unknown_variables():
        return CheckOutcome(False, "; ".join(unknown), "correct or unset these variables")
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
    note = ""
    if 0 < len(key) < SHORTEST_SECRET:
        note = f"; OPENAI_API_KEY has fewer than {SHORTEST_SECRET} characters, so it is not masked"
    elif is_plain_word(key):
        note = "; OPENAI_API_KEY is a plain word, so it is not masked in replies and documents"
    return CheckOutcome(True, f"every HOLDFAST_ variable is understood{note}")


def _result(part: str, outcome: CheckOutcome) -> HealthCheckResult:
    status: Literal["ok", "failed", "skipped"] = "ok" if outcome.is_good else "failed"
    if outcome.is_good is None:
        status = "skipped"
    return HealthCheckResult(part=part, status=status, detail=outcome.detail, remedy=outcome.remedy)


async def _run_check(
    check: _Check, settings: Settings, endpoints: Endpoints | None
) -> CheckOutcome:
    limit_s = _LIMITS_S.get(check, 2 * TIMEOUT_S)
    try:
        async with asyncio.timeout(limit_s):
            return await check(settings, endpoints)
    except TimeoutError:
        detail = f"no answer within {limit_s:g} s"
        return CheckOutcome(False, detail, BUSY_HINT, ran_out_of_time=True)
    except HoldfastError as error:
        return CheckOutcome(False, str(error))


def _python() -> CheckOutcome:
    is_good = sys.version_info >= _OLDEST_PYTHON
    remedy = "" if is_good else "install Holdfast with Python 3.11 or newer"
    return CheckOutcome(is_good, f"{platform.python_version()} at {sys.executable}", remedy)


def _packages() -> list[CheckOutcome]:
    if faults := find_module_faults():
        return [CheckOutcome(False, fault.detail, fault.remedy) for fault in faults]
    ours = f"holdfast {version('holdfast')} at {Path(__file__).parents[2]}"
    return [CheckOutcome(True, f"{ours}; every module is from its own distribution")]


async def _home(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    check_home(settings.home)
    free = free_bytes(settings.home)
    space = f"{free / 10**9:.1f} GB are free"
    if free < _LEAST_FREE_BYTES:
        remedy = "free some space: PostgreSQL stops writing when the disk is full"
        return CheckOutcome(False, f"the disk of {settings.home} is nearly full: {space}", remedy)
    return CheckOutcome(True, f"{settings.home} can be written; {space}")


async def _payload_codec(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    if settings.payload_keys is None:
        here = "HOLDFAST_PAYLOAD_KEYS turns it on"
        return CheckOutcome(None, f"off: Temporal can read first lines and labels; {here}")
    keyring = read_keyring(settings.payload_keys.get_secret_value())
    old = [name for name in keyring.keys if name != keyring.current]
    also = f"; {', '.join(old)} still decrypt" if old else ""
    return CheckOutcome(True, f"on: key {keyring.current} encrypts what Temporal stores{also}")


async def _config_file(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    if settings.config_file is None:
        return CheckOutcome(None, "no holdfast.toml here, and none is needed")
    from holdfast.configuration.configured_agents import read_agents
    from holdfast.configuration.embedding_settings import read_embeddings
    from holdfast.configuration.model_settings import read_models
    from holdfast.configuration.price_settings import read_prices
    from holdfast.tools.mcp.server_config import read_servers

    servers = read_servers(settings.config_file)
    prices = read_prices(settings.config_file).models
    agents = read_agents(settings.config_file).profiles
    models = read_models(settings.config_file)
    read_embeddings(settings.config_file)
    named = (
        f"{len(servers)} tool servers, {len(models)} models and {len(prices)} prices; "
        f"{len(agents)} agents"
    )
    return CheckOutcome(True, f"{settings.config_file} names {named}")


async def _web(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    from holdfast.tools.web.web_search import configure_providers
    from holdfast.tools.web.web_settings import read_web_settings

    table = read_web_settings(settings.config_file)
    if table is None:
        return CheckOutcome(None, "off; a table [web] in holdfast.toml turns it on")
    require_part(OptionalPart.WEB, "the table [web]")
    providers = configure_providers(table.providers, os.environ)
    if lacking := [each for each in providers if each.lacks_key]:
        names = ", ".join(f"{each.name} ({each.key_env} is not set)" for each in lacking)
        remedy = "set the variable where the worker runs, or take the provider out of holdfast.toml"
        return CheckOutcome(False, f"on, but without the key of {names}", remedy)
    named = ", ".join(f"{each.name} (key set)" if each.key_env else each.name for each in providers)
    return CheckOutcome(True, f"on; search by {named or 'no provider: pages can only be read'}")


async def _wikipedia(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    from holdfast.tools.web.web_settings import read_wikipedia_settings

    table = read_wikipedia_settings(settings.config_file)
    if table is None:
        return CheckOutcome(None, "off; a table [wikipedia] in holdfast.toml turns it on")
    require_part(OptionalPart.WEB, "the table [wikipedia]")
    return CheckOutcome(True, f"on, at {table.api}")


async def _private_jobs(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    from holdfast.tools.mcp.server_config import read_servers
    from holdfast.tools.private_job_settings import TABLE, read_private_job_settings

    own = read_servers(settings.config_file) if settings.config_file else {}
    table = read_private_job_settings(settings.config_file, own)
    if not table.allowed_hosts and not table.allowed_servers:
        here = f"name hosts under [{TABLE}] in holdfast.toml to change that"
        return CheckOutcome(True, f"jobs on private documents send nothing out; {here}")
    hosts = ", ".join(table.allowed_hosts) or "no host"
    servers = f", and the servers {', '.join(table.allowed_servers)}"
    reached = f"{hosts}{servers if table.allowed_servers else ''}"
    return CheckOutcome(True, f"jobs on private documents reach {reached}")


async def _builtin(settings: Settings, _: Endpoints | None) -> CheckOutcome:
    from holdfast.configuration.builtin_tool_servers import open_builtin_servers, unconnected_corpus
    from holdfast.tools.mcp.server_config import read_servers
    from holdfast.tools.mcp.tool_hub import Hub

    own = read_servers(settings.config_file) if settings.config_file else {}
    async with open_builtin_servers(settings, unconnected_corpus()) as servers:
        hub = Hub(own, servers)  # as the worker makes it: a name may be in use
        there = ", ".join(sorted(servers.keys() - hub.missing.keys()))
        return CheckOutcome(True, "; ".join([there, *(m.reason for m in hub.missing.values())]))


_SERVICE_CHECKS: Mapping[str, _Check] = {
    "home": _home,
    "config file": _config_file,
    "database": service_checks.check_database,
    "Temporal": service_checks.check_temporal,
    "Temporal UI": service_checks.check_temporal_ui,
    "payload codec": _payload_codec,
    "worker": service_checks.check_worker,
    "disk": check_disk,
    "model endpoint": check_default_endpoint,
}
_FILE_CHECKS: Mapping[str, _Check] = {
    "sandbox": check_sandbox,
    "built-in tools": _builtin,
    "own tools": check_named_servers,
    "web": _web,
    "wikipedia": _wikipedia,
    "private jobs": _private_jobs,
}
"""These read the config file."""
