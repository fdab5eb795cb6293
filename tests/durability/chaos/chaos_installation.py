"""Start a real installation in a short folder: embedded services, a worker, a scripted model and
tool."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row

from holdfast.client import open_client
from holdfast.models.jobs.job_record import JobRequest
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.services import start_services, stop_services
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.settings import Endpoints, Settings
from tests.durability.chaos.job_shapes import JobShape
from tests.durability.chaos.request_arrivals import RequestArrivals
from tests.durability.chaos.scripted_replies import ChaosScript, shape_question
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.services.bare_environment import bare_environment
from tests.support.tools.scripted_tools import ScriptedTools


@dataclass(frozen=True)
class SubmittedJob:
    """A job under way: its name in its requests, its id, and its shape."""

    job: str
    job_id: str
    shape: JobShape


@dataclass(frozen=True)
class ChaosInstallation:
    """One home folder with its services, and what has come in at the endpoint and the tool."""

    settings: Settings
    arrivals: RequestArrivals

    async def up(self) -> Endpoints:
        """Starts whatever does not run."""
        return await start_services(self.settings)

    async def submit(self, shapes: Mapping[str, JobShape]) -> list[SubmittedJob]:
        """A job of each shape, stored and started at once; each has its name in its requests."""
        async with open_client(self.settings, await attach_to_services(self.settings)) as holdfast:
            ids = await asyncio.gather(
                *(holdfast.submit(_request(job, shape)) for job, shape in shapes.items())
            )
        return [
            SubmittedJob(job, job_id, shapes[job]) for job, job_id in zip(shapes, ids, strict=True)
        ]

    @asynccontextmanager
    async def books(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        """PostgreSQL read directly: what is checked must not be read by what is checked."""
        url = (await attach_to_services(self.settings)).database_url.replace("+psycopg", "")
        async with await AsyncConnection.connect(
            url, autocommit=True, row_factory=dict_row
        ) as connection:
            yield connection

    def keep_logs(self, folder: Path) -> None:
        """Copies the services' logs to where they outlive this installation."""
        shutil.copytree(self.settings.home / "logs", folder, dirs_exist_ok=True)


@asynccontextmanager
async def chaos_installation(seed: int) -> AsyncIterator[ChaosInstallation]:
    """An installation that is up; ended and removed afterwards."""
    script = ChaosScript(seed)
    # A short path: PostgreSQL's socket lies in it, and its user must reach it.
    with (
        tempfile.TemporaryDirectory(prefix="hf-") as folder,
        ScriptedModel(script.reply) as model,
        ScriptedTools(script.page) as tools,
        _environment(OPENAI_BASE_URL=model.url, TEMPORAL_CONFIG_FILE=os.devnull),
    ):
        settings = _settings(Path(folder), tools.url)
        installation = ChaosInstallation(settings, script.arrivals)
        try:
            await installation.up()
            yield installation
        finally:
            stop_services(settings)


def _request(job: str, shape: JobShape) -> JobRequest:
    return JobRequest(
        question=shape_question(shape, job),
        preset=shape.pattern.preset,
        model="scripted",
        strategy=with_settings(preset(shape.pattern.preset).strategy, shape.settings),
    )


def _settings(folder: Path, tools_url: str) -> Settings:
    config = folder / "holdfast.toml"
    config.write_text(f'[servers.lab]\nurl = "{tools_url}"\n')
    return Settings(home=folder / "home", config_file=config)


@contextmanager
def _environment(**ours: str) -> Iterator[None]:
    """An environment that names no service of somebody's own, for what is started in it."""
    before = dict(os.environ)
    try:
        _replace(bare_environment() | ours)
        yield
    finally:
        _replace(before)


def _replace(environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
