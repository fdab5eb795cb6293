"""Tests that `holdfast doctor` says what takes how much of the disk."""

from pathlib import Path

import pytest

from holdfast.services import service_discovery
from holdfast.services.checks.disk_check import check_disk
from holdfast.settings import Endpoints, Settings

_MB = 10**6


def _write(file: Path, megabytes: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"x" * megabytes * _MB)


async def test_each_part_of_the_home_and_the_largest_tables_are_named(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path / "postgres" / "base" / "1" / "1259", 5)
    _write(tmp_path / "postgres" / "pg_wal" / "0001", 3)
    _write(tmp_path / "temporal.db", 2)
    _write(tmp_path / "temporal.db-wal", 2)
    _write(tmp_path / "logs" / "worker.log", 1)
    (tmp_path / "logs" / "away.log").symlink_to(tmp_path / "temporal.db")
    monkeypatch.setattr(service_discovery, "is_postgres_running", lambda *_: True)
    endpoints = Endpoints(
        database_url=database_url,
        temporal_address="127.0.0.1:1",
        temporal_namespace="default",
        temporal_ui=None,
        embedded_database=True,
        embedded_temporal=True,
    )

    outcome = await check_disk(Settings(home=tmp_path), endpoints)

    assert outcome.is_good
    parts = "PostgreSQL 5.0 MB, its write-ahead log 3.0 MB, Temporal 4.0 MB, logs 1.0 MB, "
    assert f"the home takes 13.0 MB: {parts}other files 0.0 MB" in outcome.detail
    assert "; largest tables: " in outcome.detail


async def test_without_a_database_the_folders_are_named(tmp_path: Path) -> None:
    outcome = await check_disk(Settings(home=tmp_path), None)

    assert (outcome.is_good, "largest tables" in outcome.detail) == (True, False)
