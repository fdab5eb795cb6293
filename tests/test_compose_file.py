"""Tests for docker-compose.yml and the image without running Docker."""

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from holdfast.services.servers.temporal_server import _DYNAMIC_CONFIG
from holdfast.settings import Settings

ROOT = Path(__file__).parent.parent
CONDITIONS = {"service_started", "service_healthy", "service_completed_successfully"}
SECRET = re.compile(r"(?i)password|_pwd$|api_key|token|secret")
REQUIRED = re.compile(r"\$\{\w+:\?.+\}")


@cache
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def services() -> list[Any]:
    return [pytest.param(name, body, id=name) for name, body in compose()["services"].items()]


def is_job(name: str) -> bool:
    """Whether somebody waits for the service to end."""
    return any(
        wanted.get(name, {}).get("condition") == "service_completed_successfully"
        for body in compose()["services"].values()
        if (wanted := body.get("depends_on", {}))
    )


def waits_for(name: str) -> set[str]:
    """All that must be there before the service starts, directly or through others."""
    direct = set(compose()["services"][name].get("depends_on", {}))
    return direct.union(*(waits_for(other) for other in direct))


def environment() -> Iterator[tuple[str, str, str]]:
    for name, body in compose()["services"].items():
        for variable, value in body.get("environment", {}).items():
            yield name, variable, value


def test_a_cluster_has_all_its_parts() -> None:
    assert set(compose()["services"]) >= {
        "postgres",
        "migrate",
        "temporal-db",
        "temporal-schema",
        "temporal",
        "temporal-namespace",
        "temporal-ui",
        "worker",
        "api",
    }


@pytest.mark.parametrize(("name", "body"), services())
def test_every_service_has_a_health_check_or_is_a_job(name: str, body: dict[str, Any]) -> None:
    check = body["healthcheck"]

    if is_job(name):
        assert check == {"disable": True}
        assert body["restart"].startswith("on-failure")
    else:
        assert {"test", "interval", "timeout", "retries", "start_period"} <= set(check)
        assert body["restart"] == "unless-stopped"


@pytest.mark.parametrize(("name", "body"), services())
def test_a_service_waits_only_for_what_there_is(name: str, body: dict[str, Any]) -> None:
    for other, wanted in body.get("depends_on", {}).items():
        assert wanted["condition"] in CONDITIONS
        if wanted["condition"] == "service_healthy":
            assert "test" in compose()["services"][other]["healthcheck"]
    assert name not in waits_for(name)


@pytest.mark.parametrize("name", ["worker", "api"])
def test_workers_and_servers_start_last(name: str) -> None:
    assert waits_for(name) == {
        "postgres",
        "migrate",
        "temporal-db",
        "temporal-schema",
        "temporal",
        "temporal-namespace",
    }


@pytest.mark.parametrize(("name", "body"), services())
def test_an_image_is_named_with_its_version(name: str, body: dict[str, Any]) -> None:
    if "build" not in body:
        assert re.search(r":[^/]*\d", body["image"])
        assert not body["image"].endswith(":latest")


def test_no_secret_is_written_down() -> None:
    found = 0
    for service, variable, value in environment():
        if SECRET.search(variable) and variable != "OPENAI_API_KEY":
            assert REQUIRED.fullmatch(value), f"{service}: {variable}"
            found += 1

    assert found >= 5
    worker = compose()["services"]["worker"]["environment"]
    assert worker["OPENAI_API_KEY"] == "${OPENAI_API_KEY:-}"
    assert not re.search(r"://[^/\s:]+:[^/\s$]+@", (ROOT / "docker-compose.yml").read_text())


def test_nothing_is_open_to_the_network() -> None:
    for body in compose()["services"].values():
        for port in body.get("ports", []):
            assert port.startswith("127.0.0.1:")


@pytest.mark.conformance("OPS-10")
def test_a_server_of_ones_own_hands_out_tasks_as_the_embedded_one_does() -> None:
    stated = yaml.safe_load((ROOT / "deploy/temporal-dynamic-config.yaml").read_text())
    matching = {
        name: json.loads(value)
        for name, value in _DYNAMIC_CONFIG.items()
        if name.startswith("matching.")
    }

    assert len(matching) == 3
    assert {name: stated[name] for name in matching} == {
        name: [{"value": value}] for name, value in matching.items()
    }


def test_every_file_and_volume_that_is_mounted_exists() -> None:
    for body in compose()["services"].values():
        for volume in body.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in compose()["volumes"] or (ROOT / source).exists()


def test_the_workers_variables_are_ones_that_holdfast_reads() -> None:
    known = {f"HOLDFAST_{name.upper()}" for name in Settings.model_fields} | {"HOLDFAST_READY_FILE"}

    for _, variable, _ in environment():
        assert not variable.startswith("HOLDFAST_") or variable in known


def test_the_image_is_built_from_all_that_the_wheel_holds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    let_in = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }

    wheel = set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"])
    linked = {path.name for path in (ROOT / "holdfast").iterdir() if path.is_symlink()}
    assert let_in == wheel | linked | {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "requirements-all.lock",
    }


def test_the_image_does_not_run_as_root() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()

    assert any(line.startswith("USER ") and line != "USER root" for line in lines)


def test_the_image_runs_a_worker_that_is_started_again_when_it_dies() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()

    [command] = [line.removeprefix("CMD ") for line in lines if line.startswith("CMD ")]
    assert json.loads(command)[-3:] == ["-m", "holdfast.worker", "--supervise"]
    # Nothing in the composition takes its place.
    assert "command" not in compose()["services"]["worker"]
