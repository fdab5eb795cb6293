"""Tests that Holdfast encrypts its connections to PostgreSQL, and checks whom it reached."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme
from temporalio.client import Client

from holdfast.models.errors import StorageAway
from holdfast.services.checks.check_outcome import CheckOutcome
from holdfast.services.checks.service_checks import check_database
from holdfast.settings import Endpoints, Settings
from holdfast.storage.core.database import Database
from holdfast.storage.core.schema_migration import migrate_schema
from holdfast.storage.views.job_queries import job_calls
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.running_engine import running_engine
from tests.support.jobs.slow_chain import script_slow_chain
from tests.support.services.temporal_cluster import TcpPostgres, tcp_postgres
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.conformance("OPS-04"),
    pytest.mark.skipif(
        shutil.which("initdb") is None,
        reason="the PostgreSQL of the wheel knows no TLS, and no other is installed",
    ),
]

_WHO_MAY_CONNECT = """
hostssl   all  all 127.0.0.1/32 trust
hostnossl open all 127.0.0.1/32 trust
"""
"""The database `open` alone takes connections that are not encrypted."""


@dataclass(frozen=True)
class EncryptedPostgres:
    """A PostgreSQL with a certificate of `authority`; `stranger` has signed nothing."""

    server: TcpPostgres
    authority: Path
    stranger: Path

    def url(self, database: str, **parameters: str) -> str:
        words = "&".join(f"{name}={value}" for name, value in parameters.items())
        return f"{self.server.url(database, 'postgresql+psycopg')}?{words}"


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EncryptedPostgres]:
    folder = tmp_path_factory.mktemp("authorities")
    authority = trustme.CA()
    paths = (folder / "authority.pem", folder / "stranger.pem")
    for path, each in zip(paths, (authority, trustme.CA()), strict=True):
        each.cert_pem.write_to_path(path)

    def prepare(home: Path) -> dict[str, str]:
        issued = authority.issue_cert("127.0.0.1")
        chain, key, rules = home / "server.pem", home / "server.key", home / "hba.conf"
        issued.cert_chain_pems[0].write_to_path(chain)
        issued.private_key_pem.write_to_path(key)
        key.chmod(0o600)
        rules.write_text(_WHO_MAY_CONNECT)
        return {
            "ssl": "on",
            "ssl_cert_file": str(chain),
            "ssl_key_file": str(key),
            "hba_file": str(rules),
        }

    with tcp_postgres(prepare) as server:
        for name in ("closed", "open"):
            server.execute(f"create database {name}")
            migrate_schema(f"{server.url(name, 'postgresql+psycopg')}?sslmode=require")
        yield EncryptedPostgres(server, *paths)


async def check(url: str, home: Path) -> CheckOutcome:
    """What `holdfast doctor` says of the database."""
    endpoints = Endpoints(
        database_url=url,
        temporal_address="",
        temporal_namespace="",
        temporal_ui=None,
        embedded_database=False,
        embedded_temporal=False,
    )
    return await check_database(Settings(home=home, database_url=url), endpoints)


async def test_a_job_runs_over_encrypted_connections_alone(
    encrypted: EncryptedPostgres,
    temporal: Client,
    tmp_path: Path,
    model: ScriptedModel,
    tools: ScriptedTools,
    players: ScriptedRoles,
) -> None:
    script_slow_chain(players, tools, steps=2, delay_s=0)
    url = encrypted.url("closed", sslmode="verify-full", sslrootcert=str(encrypted.authority))
    async with running_engine(
        temporal, url, tmp_path, model_url=model.url, tools_url=tools.url
    ) as engine:
        view = await engine.run("Who keeps the light?")
        calls = await job_calls(engine.db, view.job_id)

    assert view.stop_reason == "answered"
    assert {call.sends for call in calls} == {1}


async def test_a_server_whose_certificate_another_authority_signed_gets_no_statement(
    encrypted: EncryptedPostgres, tmp_path: Path
) -> None:
    url = encrypted.url("closed", sslmode="verify-full", sslrootcert=str(encrypted.stranger))
    database = Database(url)

    with pytest.raises(StorageAway):
        async with database.reading():
            pass
    outcome = await check(url, tmp_path)
    await database.close()

    assert not outcome.is_good
    assert "certificate verify failed" in outcome.detail


async def test_doctor_says_whether_the_connection_is_encrypted_and_how_many_there_are(
    encrypted: EncryptedPostgres, tmp_path: Path
) -> None:
    checked = {"sslmode": "verify-full", "sslrootcert": str(encrypted.authority)}
    outcomes = [
        await check(encrypted.url("open", **parameters), tmp_path)
        for parameters in (checked, {"sslmode": "require"}, {"sslmode": "disable"})
    ]

    assert all(each.is_good for each in outcomes), outcomes
    said = [each.detail.split("; ")[1:3] for each in outcomes]
    assert [notes[0] for notes in said] == [
        "encrypted",
        "encrypted, but nobody checks the server's certificate (sslmode=verify-full does)",
        "not encrypted (sslmode=verify-full in HOLDFAST_DATABASE_URL encrypts)",
    ]
    assert all(notes[1].endswith(" of 200 connections in use") for notes in said)
