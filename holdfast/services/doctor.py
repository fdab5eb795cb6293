"""Looks at every part that a job needs, and says of each what is found and how to mend it."""

import asyncio
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Coroutine
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from holdfast.services import running
from holdfast.services.lifecycle import attach
from holdfast.services.state import load_state
from holdfast.services.worker_process import current_worker
from holdfast.settings import Endpoints, Settings, load_settings
from models.errors import BadConfiguration, HoldfastError

_WITHIN_S = 5.0
_START = "run `holdfast up`"
_OLDEST_PYTHON = (3, 11)


class Finding(BaseModel):
    """One part's state; `cure` is empty where nothing is to be done."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    part: str
    status: Literal["ok", "failed", "skipped"]
    found: str
    cure: str = ""


class _Answer(NamedTuple):
    is_good: bool | None  # None: there was nothing to check
    found: str
    cure: str = ""


_Check = Callable[[Settings, Endpoints | None], Coroutine[None, None, _Answer]]


async def examine() -> list[Finding]:
    """All findings, in the order in which they are best mended."""
    findings = [_finding("Python", _python())]
    try:
        settings = load_settings()
    except BadConfiguration as error:
        cure = "correct or unset these variables"
        return [*findings, _finding("settings", _Answer(False, str(error), cure))]
    findings.append(_finding("settings", _Answer(True, "every HOLDFAST_ variable is understood")))
    try:
        endpoints = await attach(settings)
    except HoldfastError:
        endpoints = None  # each service says for itself that it is not there
    answers = await asyncio.gather(*(_safely(check, settings, endpoints) for _, check in _CHECKS))
    return findings + [_finding(part, a) for (part, _), a in zip(_CHECKS, answers, strict=True)]


def _finding(part: str, answer: _Answer) -> Finding:
    status: Literal["ok", "failed", "skipped"] = "ok" if answer.is_good else "failed"
    if answer.is_good is None:
        status = "skipped"
    return Finding(part=part, status=status, found=answer.found, cure=answer.cure)


async def _safely(check: _Check, settings: Settings, endpoints: Endpoints | None) -> _Answer:
    try:
        async with asyncio.timeout(2 * _WITHIN_S):
            return await check(settings, endpoints)
    except TimeoutError:
        return _Answer(False, f"no answer within {2 * _WITHIN_S:g} s", _START)
    except HoldfastError as error:
        return _Answer(False, str(error))


def _python() -> _Answer:
    is_good = sys.version_info >= _OLDEST_PYTHON
    cure = "" if is_good else "install Holdfast with Python 3.11 or newer"
    return _Answer(is_good, f"{platform.python_version()} at {sys.executable}", cure)


async def _home(settings: Settings, _: Endpoints | None) -> _Answer:
    home = settings.home
    nearest = next(folder for folder in (home, *home.parents) if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            return _Answer(True, f"{home} can be written")
    except OSError as error:
        cure = "set HOLDFAST_HOME to a folder of yours"
        return _Answer(False, f"{nearest} cannot be written ({error.strerror})", cure)


async def _config_file(settings: Settings, _: Endpoints | None) -> _Answer:
    if settings.config_file is None:
        return _Answer(None, "no holdfast.toml here, and none is needed")
    from holdfast.agents import read_agents
    from holdfast.prices import read_prices
    from tools.config import read_servers

    servers = read_servers(settings.config_file)
    prices = read_prices(settings.config_file).models
    agents = read_agents(settings.config_file, has_endpoint=settings.has_model_endpoint).profiles
    named = f"{len(servers)} tool servers and {len(prices)} prices; {len(agents)} agents"
    return _Answer(True, f"{settings.config_file} names {named}")


async def _database(settings: Settings, endpoints: Endpoints | None) -> _Answer:
    url = _database_url(settings, endpoints)
    if url is None:
        return _Answer(False, "the embedded PostgreSQL is not running", _START)
    import psycopg

    plain = url.replace("postgresql+psycopg://", "postgresql://", 1)
    cure = _START if endpoints and endpoints.embedded_database else "check HOLDFAST_DATABASE_URL"
    try:
        revision = await asyncio.to_thread(_revision, plain)
    except psycopg.errors.UndefinedTable:
        return _Answer(False, "PostgreSQL answers, but has no schema yet", _START)
    except psycopg.OperationalError as error:
        # The first line only, and never the address: it may hold a password.
        first_line = str(error).partition("\n")[0]
        return _Answer(False, f"PostgreSQL does not answer: {first_line}", cure)
    from storage.migrate import head_revision

    if revision != (head := await asyncio.to_thread(head_revision)):
        return _Answer(False, f"the schema is {revision}, this version needs {head}", _START)
    return _Answer(True, f"PostgreSQL answers, schema {revision}")


def _database_url(settings: Settings, endpoints: Endpoints | None) -> str | None:
    if endpoints:
        return endpoints.database_url
    return settings.database_url.get_secret_value() if settings.database_url else None


def _revision(plain_url: str) -> str:
    import psycopg

    with psycopg.connect(plain_url, connect_timeout=int(_WITHIN_S)) as connection:
        row = connection.execute("select version_num from alembic_version").fetchone()
    return str(row[0]) if row else "empty"


async def _temporal(settings: Settings, endpoints: Endpoints | None) -> _Answer:
    if endpoints is None and settings.uses_embedded_temporal:
        return _Answer(False, "the embedded Temporal is not running", _START)
    from holdfast.temporal import connect, missing_search_attributes

    where = endpoints or running.endpoints(settings, load_state(settings.home))
    client = await connect(settings, where)
    at = f"{where.temporal_address}, namespace {where.temporal_namespace}"
    if missing := await missing_search_attributes(client):
        return _Answer(False, f"{at}: search attributes {', '.join(missing)} are missing", _START)
    return _Answer(True, f"{at}: answers, search attributes are registered")


async def _temporal_ui(settings: Settings, endpoints: Endpoints | None) -> _Answer:
    from holdfast.temporal import ui_base

    base = ui_base(settings, endpoints) if endpoints else settings.temporal_ui_url
    if base is None:
        if endpoints is None:
            return _Answer(None, "not looked at: a service is not running")
        return _Answer(None, "no address known; HOLDFAST_TEMPORAL_UI_URL would add links")
    status = await _get(base)
    if isinstance(status, int):
        return _Answer(True, f"{base} answers")
    return _Answer(False, f"{base} does not answer ({status})", "check the address, or " + _START)


async def _worker(settings: Settings, endpoints: Endpoints | None) -> _Answer:
    log = settings.home / "logs" / "worker.log"
    if running.worker_is_running(settings):
        if worker := current_worker(settings.home):
            return _Answer(True, f"this machine's worker runs (pid {worker.pid}), supervised")
        cure = f"see why in its log, {log}"
        return _Answer(False, "the worker died, and its supervisor is starting another", cure)
    if endpoints and not (endpoints.embedded_database or endpoints.embedded_temporal):
        return _Answer(None, "none on this machine; `holdfast up` starts one")
    return _Answer(False, "no worker runs on this machine", f"{_START}; its log is {log}")


async def _model(settings: Settings, _: Endpoints | None) -> _Answer:
    if not settings.has_model_endpoint:
        return _Answer(None, "`extractive` is built in and needs no endpoint")
    key = settings.openai_api_key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    base = settings.openai_base_url.rstrip("/")
    status = await _get(f"{base}/models", headers)
    if isinstance(status, str):
        return _Answer(False, f"{base} does not answer ({status})", "check OPENAI_BASE_URL")
    if status in {401, 403}:
        wrong = "refuses the key" if key else "wants a key"
        return _Answer(False, f"{base} {wrong} ({status})", "set OPENAI_API_KEY to a valid key")
    if status == 404:
        # Not every OpenAI-compatible server lists its models.
        return _Answer(True, f"{base} answers, without a list of models")
    if status >= 400:
        return _Answer(False, f"{base} answers {status}", "check OPENAI_BASE_URL, or try later")
    return _Answer(True, f"{base} answers and takes {'the key' if key else 'no key'}")


async def _web(settings: Settings, _: Endpoints | None) -> _Answer:
    from tools.web.searching import asked_providers
    from tools.web.settings import read_web

    table = read_web(settings.config_file)
    if table is None:
        return _Answer(None, "off; a table [web] in holdfast.toml turns it on")
    asked = asked_providers(table.providers, os.environ)
    if lacking := [each for each in asked if each.lacks_key]:
        names = ", ".join(f"{each.name} ({each.key_env} is not set)" for each in lacking)
        cure = "set the variable where the worker runs, or take the provider out of holdfast.toml"
        return _Answer(False, f"on, but without the key of {names}", cure)
    named = ", ".join(f"{each.name} (key set)" if each.key_env else each.name for each in asked)
    return _Answer(True, f"on; search by {named or 'nobody: pages can be read only'}")


async def _wikipedia(settings: Settings, _: Endpoints | None) -> _Answer:
    from tools.web.settings import read_wikipedia

    table = read_wikipedia(settings.config_file)
    if table is None:
        return _Answer(None, "off; a table [wikipedia] in holdfast.toml turns it on")
    return _Answer(True, f"on, at {table.api}")


async def _builtin(settings: Settings, _: Endpoints | None) -> _Answer:
    from holdfast.builtin import builtin_servers, unread_corpus
    from tools.config import read_servers
    from tools.hub import Hub

    own = read_servers(settings.config_file) if settings.config_file else {}
    async with builtin_servers(settings, unread_corpus()) as servers:
        Hub(own, servers)  # as the worker makes it: a name may be taken
        return _Answer(True, ", ".join(sorted(servers)))


async def _get(address: str, headers: dict[str, str] | None = None) -> int | str:
    """The status of the answer, or in words why there is none."""
    import httpx2

    try:
        async with httpx2.AsyncClient(timeout=_WITHIN_S) as client:
            return (await client.get(address, headers=headers)).status_code
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        return type(error).__name__


_CHECKS: tuple[tuple[str, _Check], ...] = (
    ("home", _home),
    ("config file", _config_file),
    ("database", _database),
    ("Temporal", _temporal),
    ("Temporal UI", _temporal_ui),
    ("worker", _worker),
    ("model endpoint", _model),
    ("built-in tools", _builtin),
    ("web", _web),
    ("wikipedia", _wikipedia),
)
