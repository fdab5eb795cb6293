"""Tests that a command in one folder does not stop the work of another."""

from pathlib import Path

import psutil
import psycopg
import pytest

from holdfast.models.errors import BadConfiguration
from holdfast.services import attach_to_services, start_services
from holdfast.services.launch.worker_process import current_worker
from holdfast.services.launch.worker_settings import OWN_CODE, changed_settings
from holdfast.services.service_state import load_state
from holdfast.settings import Settings
from tests.support.long_parameters import only_long
from tests.support.services.service_installation import ServiceInstallation

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240), pytest.mark.conformance("REL-10")]

_RUNNING_JOB = """
insert into jobs (id, question, preset, model, strategy, config_hash, request_hash, status)
values ('job-x', 'Why?', 'research', 'extractive', '{}', '', '', 'running')
"""


async def begin_job(installation: ServiceInstallation) -> None:
    """Store a job that is under way in another folder."""
    url = (await attach_to_services(installation.settings)).database_url.replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as database:
        database.execute(_RUNNING_JOB)


@pytest.mark.long
async def test_other_settings_do_not_stop_a_worker_that_is_at_work(
    running: ServiceInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    await running.up(worker=True)
    worker = current_worker(running.home)
    await begin_job(running)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    with pytest.raises(BadConfiguration, match=r"1 job.*OPENAI_BASE_URL.*holdfast up"):
        await start_services(running.settings, may_interrupt=False)

    assert current_worker(running.home) == worker
    await running.up(worker=True)
    [said] = running.said
    assert said.startswith("restarting the worker, because of a change of OPENAI_BASE_URL; 1 job")
    assert current_worker(running.home) != worker


@pytest.mark.long
async def test_a_command_without_the_workers_certificates_leaves_them_to_the_worker(
    running: ServiceInstallation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An MCP host starts `holdfast` with few variables of the user's shell."""
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    await running.up(worker=True)
    worker = current_worker(running.home)
    monkeypatch.delenv("SSL_CERT_DIR")

    await running.up(worker=True)
    assert running.said == []
    assert current_worker(running.home) == worker

    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    await running.up(worker=True)
    assert running.said == ["restarting the worker, because of a change of OPENAI_BASE_URL"]
    assert load_state(running.home).worker_certificates["SSL_CERT_DIR"] == str(tmp_path)
    assert (replacing := current_worker(running.home)) not in (None, worker)
    # A worker hides the values of its variables from other processes, and not their names.
    assert "SSL_CERT_DIR" in psutil.Process(replacing.pid).environ()


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("[webb]\nx = 1\n", "unknown table 'webb'"),
        only_long('[servers.corpus]\ncommand = ["true"]\n', "'corpus' comes with Holdfast"),
        only_long("[agents.patents]\ntier = 'dta'\n", "agents.patents"),
    ],
)
async def test_a_wrong_file_leaves_the_running_worker_alone(
    running: ServiceInstallation, tmp_path: Path, content: str, fault: str
) -> None:
    await running.up(worker=True)
    worker = current_worker(running.home)
    file = tmp_path / "holdfast.toml"
    file.write_text(content)

    with pytest.raises(BadConfiguration, match=fault):
        await start_services(Settings(home=running.home, config_file=file))

    assert worker
    assert current_worker(running.home) == worker


def test_a_setting_that_appears_changes_or_goes_is_named() -> None:
    before = {"A": "1", "B": "1", OWN_CODE: "1"}

    assert changed_settings(before, {"A": "1", "B": "2", "C": "1"}) == ["B", "C", OWN_CODE]
