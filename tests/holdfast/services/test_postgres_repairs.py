"""Tests that the embedded PostgreSQL starts whatever happened to its files."""

import os
from pathlib import Path

import psycopg
import pytest

from holdfast.services import stop_services
from holdfast.services.service_state import load_state
from tests.support.long_parameters import only_long
from tests.support.services.service_installation import ServiceInstallation, kill

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240), pytest.mark.conformance("REL-03")]

THIS_PROCESS = str(os.getpid())
"""A pid that was PostgreSQL's before a reboot and is another program's now."""


def damage(file: Path, content: str | None) -> None:
    file.unlink() if content is None else file.write_text(content)


def keep(answer: int, url: str) -> None:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as database:
        database.execute(f"create table kept as select {answer} as answer")


def kept(url: str) -> tuple[int] | None:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as database:
        return database.execute("select answer from kept").fetchone()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        only_long("postmaster.pid", THIS_PROCESS),
        only_long("postmaster.pid", ""),
        only_long(".s.PGSQL.5432.lock", THIS_PROCESS),
        (".s.PGSQL.5432.lock", ""),
        only_long("PG_VERSION", ""),
        only_long("PG_VERSION", None),
    ],
    # Not by content: each process of a test run has another number.
    ids=["stale-pid", "empty-pid", "stale-lock", "empty-lock", "empty-version", "no-version"],
)
async def test_a_killed_servers_stale_or_empty_file_is_no_obstacle(
    running: ServiceInstallation, file: str, content: str | None
) -> None:
    endpoints = await running.up()
    keep(42, endpoints.database_url)
    victim = load_state(running.home).postgres
    assert victim
    kill(victim.pid)
    damage(running.home / "postgres" / file, content)

    await running.up()

    assert running.said == ["starting PostgreSQL"]
    assert kept(endpoints.database_url) == (42,)


@pytest.mark.parametrize("control", [None, only_long(b"")])
@pytest.mark.long
async def test_an_incomplete_data_folder_is_set_aside(
    running: ServiceInstallation, control: bytes | None
) -> None:
    stop_services(running.settings)
    file = running.home / "postgres" / "global" / "pg_control"
    file.unlink() if control is None else file.write_bytes(control)

    await running.up()

    [kept_folder] = running.home.glob("postgres.damaged-*")
    assert (kept_folder / "base").is_dir()
    assert any(kept_folder.name in line for line in running.said)


@pytest.mark.long
async def test_an_empty_data_folder_is_filled(installation: ServiceInstallation) -> None:
    (installation.home / "postgres").mkdir(parents=True)

    await installation.up()

    assert not list(installation.home.glob("postgres.damaged-*"))


@pytest.mark.parametrize("content", [only_long(""), "not json", only_long('{"postgres": 7}')])
@pytest.mark.long
async def test_a_malformed_state_file_is_written_again(
    running: ServiceInstallation, content: str
) -> None:
    before = {process.pid for process in running.processes()}
    damage(running.home / "services.json", content)

    await running.up()

    state = load_state(running.home)
    assert state.postgres
    assert state.temporal
    servers = [p.pid for p in running.processes() if " -D " in " ".join(p.info["cmdline"])]
    assert servers == [state.postgres.pid]
    assert state.postgres.pid not in before
