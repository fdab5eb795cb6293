"""Tests of backup and restore with the commands of docs/backup.md, on real services."""

import asyncio
import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from holdfast.models.jobs.job_filter import JobFilter
from holdfast.services import start_services
from holdfast.services.servers.postgres_account import postgres_program
from holdfast.services.servers.postgres_server import plain_url
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from tests.support.jobs.earlier_jobs import earlier_request, store_ended_job
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.bare_environment import bare_environment
from tests.support.services.command_shell import CommandResult, CommandShell, command_shell

_PAGE = Path("docs/backup.md")
_QUESTION = "When was the light of Ouzel Stack built?"


@pytest.fixture
def shell() -> Iterator[CommandShell]:
    with command_shell() as shell:
        yield shell


def _documented_commands(*headings: str) -> list[list[str]]:
    """The words of the commands below these headings, one below the other."""
    text = _PAGE.read_text()
    for heading in headings:
        text = text.partition(f"\n{heading}\n")[2]
    block = text.partition("```console\n")[2].partition("```")[0]
    return [shlex.split(line) for line in block.splitlines()]


def _run_documented(shell: CommandShell, *headings: str) -> list[CommandResult]:
    """Run the documented commands, `up` aside, which would start a worker."""
    commands = _documented_commands(*headings)
    assert all(words[0] == "holdfast" for words in commands)
    return [_succeeded(shell, *words[1:]) for words in commands if words[1:] != ["up"]]


def _succeeded(shell: CommandShell, *words: str) -> CommandResult:
    result = shell.holdfast(*words)
    assert result.code == 0, result.err
    return result


def _listed(shell: CommandShell) -> list[str]:
    return [job["question"] for job in json.loads(_succeeded(shell, "list", "--json").out)]


@contextmanager
def _onlooker(home: Path) -> Iterator[None]:
    """Somebody who looks at the database and connects again at once, as who follows a job does."""
    is_over = threading.Event()

    def look() -> None:
        while not is_over.is_set():
            with suppress(psycopg.Error), psycopg.connect(plain_url(home)) as connection:
                while not is_over.wait(0.01):
                    connection.execute("select 1")

    onlooker = threading.Thread(target=look)
    onlooker.start()
    try:
        yield
    finally:
        is_over.set()
        onlooker.join()


async def _store_job(home: Path) -> None:
    endpoints = await start_services(Settings(home=home), worker=False)
    db = Database(endpoints.database_url)
    tasks = plan(lookup_task("T1"), final_task("T2", "T1"))
    await store_ended_job(db, "job-1", earlier_request(_QUESTION), tasks)
    await db.close()


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.conformance("REL-06")
def test_the_documented_commands_move_every_job_to_another_home(shell: CommandShell) -> None:
    asyncio.run(_store_job(shell.home))
    shown = _succeeded(shell, "plan", "job-1").out
    (shell.folder / "taken.dump").touch()
    assert "exists; name another file" in shell.holdfast("backup", "taken.dump").refused()

    _run_documented(shell, "## The embedded services", "### Move to another machine")
    backup = shell.folder / "holdfast-backup.dump"
    assert backup.stat().st_mode & 0o777 == 0o600

    other = replace(shell, home=shell.home.with_name("other"))
    try:
        cut = shell.folder / "cut.dump"
        cut.write_bytes(backup.read_bytes()[:-100])
        assert "is no whole backup" in other.holdfast("restore", cut.name).refused()
        assert not other.has_started_services

        restored = _run_documented(other, "## The embedded services", "### Restore")
        assert "restored 1 jobs, 0 of which have not ended" in restored[0].out
        assert _listed(other) == [_QUESTION]
        assert _succeeded(other, "plan", "job-1").out == shown
        assert "1 jobs and 0 documents" in other.holdfast("restore", backup.name).refused()
        assert _listed(other) == [_QUESTION]
        with _onlooker(other.home):
            _succeeded(other, "restore", backup.name, "--replace")
        assert len(_listed(other)) == 1
    finally:
        other.holdfast("down")


async def test_the_documented_commands_of_postgresql_restore_every_job(
    idle_engine: RunningEngine, database_url: str, tmp_path: Path
) -> None:
    tasks = plan(lookup_task("T1"), final_task("T2", "T1"))
    await store_ended_job(idle_engine.db, "job-1", earlier_request(_QUESTION), tasks)

    _run_with_postgresql(tmp_path, database_url, "## Your own servers", "### Back up")
    await store_ended_job(idle_engine.db, "job-2", earlier_request(_QUESTION), tasks)
    _run_with_postgresql(tmp_path, database_url, "## Your own servers", "### Restore")

    jobs = await job_rows.load_newest_jobs(idle_engine.db, JobFilter())
    assert [job.id for job in jobs] == ["job-1"]


def _run_with_postgresql(folder: Path, database_url: str, *headings: str) -> None:
    """Run the documented commands with the programs of the wheel and the tests' Python."""
    programs = f"{postgres_program('pg_dump').parent}:{Path(sys.executable).parent}"
    variables = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "DATABASE": database_url.replace("+psycopg", "", 1),
        "HOLDFAST_DATABASE_URL": database_url,
        "HOLDFAST_HOME": str(folder / "home"),
    }
    for command in _documented_commands(*headings):
        words = [word.replace("$DATABASE", variables["DATABASE"]) for word in command]
        environment = bare_environment() | variables
        subprocess.run(words, cwd=folder, env=environment, check=True, timeout=120)
