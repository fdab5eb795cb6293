"""A home folder in a short path with embedded services, a worker, a scripted model and tools."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row

from holdfast.services import start_services, stop_services
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.settings import Endpoints, Settings
from tests.durability.chaos.chaos_disk import OwnDisk, disk_of_its_own
from tests.durability.chaos.fake_clock import FakeClock, find_library
from tests.support.endpoints.scripted_model import Responder, ScriptedModel
from tests.support.services.bare_environment import bare_environment
from tests.support.tools.scripted_tools import ScriptedTools


@dataclass(frozen=True)
class RunningHome:
    """One home folder with its services, and the model that its worker asks."""

    settings: Settings
    model: ScriptedModel
    clock: FakeClock | None
    """The clock of its worker and its PostgreSQL, if that can be set."""
    has_own_disk: bool
    """Whether its disk can be filled, or turned read-only."""

    async def up(self, *, worker: bool = True) -> Endpoints:
        """Starts whatever does not run."""
        return await start_services(self.settings, worker=worker)

    @asynccontextmanager
    async def books(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        """PostgreSQL read directly: what is checked must not be read by what is checked."""
        url = (await attach_to_services(self.settings)).database_url.replace("+psycopg", "")
        async with await AsyncConnection.connect(
            url, autocommit=True, row_factory=dict_row
        ) as connection:
            yield connection

    def keep_logs(self, folder: Path) -> None:
        """Copies the services' logs to where they outlive this home."""
        shutil.copytree(self.settings.home / "logs", folder, dirs_exist_ok=True)


@contextmanager
def running_home(
    reply: Responder,
    page: Callable[[str], str],
    *,
    has_clock: bool = False,
    disk: OwnDisk = disk_of_its_own,
) -> Iterator[RunningHome]:
    """A home whose services may be started; they are ended and the home removed afterwards."""
    with ExitStack() as held:
        # A short path: PostgreSQL's socket lies in it, and its user must reach it.
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="hf-")))
        has_disk = held.enter_context(disk(folder))
        model = held.enter_context(ScriptedModel(reply))
        tools = held.enter_context(ScriptedTools(page))
        clock = held.enter_context(_clock(folder)) if has_clock else None
        ours = {"OPENAI_BASE_URL": model.url, "TEMPORAL_CONFIG_FILE": os.devnull}
        held.enter_context(_environment(ours | dict(clock.environment if clock else {})))
        settings = _settings(folder, tools.url)
        held.callback(stop_services, settings)
        yield RunningHome(settings, model, clock, has_disk)


@contextmanager
def _clock(folder: Path) -> Iterator[FakeClock]:
    library = find_library()
    assert library, "a clock that jumps needs Debian's package `libfaketime`"
    clock = FakeClock(folder / "clock", library)
    with clock.reaching_services():
        yield clock


def _settings(folder: Path, tools_url: str) -> Settings:
    config = folder / "holdfast.toml"
    with config.open("w") as file:
        file.write(f'[servers.lab]\nurl = "{tools_url}"\n')
        file.flush()
        os.fsync(file.fileno())  # a disk that fails soon must not lose it
    return Settings(home=folder / "home", config_file=config)


@contextmanager
def _environment(ours: Mapping[str, str]) -> Iterator[None]:
    """An environment that names no service of somebody's own, for what is started in it."""
    before = dict(os.environ)
    try:
        _replace(bare_environment() | ours)
        yield
    finally:
        _replace(before)


def _replace(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
