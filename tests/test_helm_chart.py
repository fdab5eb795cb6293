"""Tests for the Helm chart: what it starts, as whom, and with which secrets.

`make helm` builds helm and renders the chart; the tests read the rendering that is committed.
"""

import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from holdfast.settings import Settings
from tests.support.services.bare_environment import bare_environment

pytestmark = pytest.mark.conformance("OPS-09")

ROOT = Path(__file__).parent.parent
KUBERNETES = "1.34"
FOREIGN_KINDS = {"ScaledObject"}
"""Kinds that Kubernetes itself does not define: KEDA's."""
CHART = ROOT / "deploy/helm"
RENDERED = CHART / "rendered-example.yaml"
HELM = shutil.which("helm", path=f"{ROOT / 'build/helm'}:{os.environ.get('PATH', '')}")
needs_helm = pytest.mark.skipif(HELM is None, reason="helm is missing; `make helm` builds it")
PYTHON = ["python", "-P", "-m"]
STARTED_BY_TESTS = {
    "holdfast.storage.core.schema_migration": "test_the_migration_of_the_chart_migrates",
    "holdfast.worker --supervise": "tests/durability/test_worker_supervisor.py",
    "holdfast serve --host 0.0.0.0 --port 8765": "tests/holdfast/cli/test_serve_command.py",
}


def documents() -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(RENDERED.read_text()) if each]


def named(kind: str) -> dict[str, dict[str, Any]]:
    """The objects of a kind by their names."""
    return {each["metadata"]["name"]: each for each in documents() if each["kind"] == kind}


def pods() -> dict[str, dict[str, Any]]:
    """The pod of each workload by its name."""
    workloads = named("Deployment") | named("Job")
    return {name: each["spec"]["template"]["spec"] for name, each in workloads.items()}


def commands() -> dict[str, list[str]]:
    return {name: pod["containers"][0]["command"] for name, pod in pods().items()}


def render(*more: str) -> str:
    assert HELM is not None
    values = CHART / "example-values.yaml"
    rendered = subprocess.run(
        [HELM, "template", "research", str(CHART / "holdfast"), "-f", str(values), *more],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return rendered.stdout


@needs_helm
def test_the_committed_rendering_is_what_helm_renders() -> None:
    assert render() == RENDERED.read_text()


def test_every_object_has_the_type_that_kubernetes_asks_for() -> None:
    own = [each for each in documents() if each["kind"] not in FOREIGN_KINDS]
    for each in own:
        kubernetes_validate.validate(each, KUBERNETES, strict=True)

    assert {each["kind"] for each in own} >= {"Deployment", "Job", "Service", "NetworkPolicy"}
    own[0]["spec"]["podSelectors"] = {}
    with pytest.raises(kubernetes_validate.ValidationError, match="podSelectors"):
        kubernetes_validate.validate(own[0], KUBERNETES, strict=True)


def test_chart_and_compose_start_commands_that_tests_start() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    ours = {name: body for name, body in compose.items() if body.get("image") == "holdfast"}
    started = {
        *(tuple(command) for command in commands().values()),
        *(tuple(body["command"]) for body in ours.values() if "command" in body),
    }

    assert {command[:3] for command in started} == {tuple(PYTHON)}
    # The image's own command is the worker's; test_compose_file.py checks it.
    assert {" ".join(command[3:]) for command in started} == STARTED_BY_TESTS.keys()
    assert set(ours) == {"api", "migrate", "worker"}


def test_the_migration_of_the_chart_migrates(database_url: str) -> None:
    command = commands()["research-migration"]
    ran = subprocess.run(
        [sys.executable, *command[1:]],
        env={**bare_environment(), "HOLDFAST_DATABASE_URL": database_url},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert ran.returncode == 0, ran.stderr
    assert "database is at revision" in ran.stdout


def test_a_changed_configuration_starts_new_pods() -> None:
    config = named("ConfigMap")["research-config"]["data"]["holdfast.toml"]

    for name, each in named("Deployment").items():
        annotations = each["spec"]["template"]["metadata"].get("annotations", {})
        assert annotations.get("checksum/config") == sha256(config.encode()).hexdigest(), name


def test_old_workers_end_before_new_ones_start() -> None:
    worker = named("Deployment")["research-worker"]

    assert worker["spec"].get("strategy") == {"type": "Recreate"}


@needs_helm
def test_workers_of_a_named_release_are_replaced_one_by_one() -> None:
    assert "Recreate" in render()
    assert "Recreate" not in render("--set", "environment.HOLDFAST_RELEASE=2026-11-b")


def test_the_migration_gets_the_environment_that_workers_get() -> None:
    given = {"name": "HOLDFAST_MODEL", "value": "extractive"}

    for name, pod in pods().items():
        assert given in pod["containers"][0].get("env", []), name


def test_no_pod_runs_as_root_or_writes_to_its_image() -> None:
    for name, pod in pods().items():
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["automountServiceAccountToken"] is False, name
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, name
        assert {"cpu", "memory"} <= set(container["resources"]["requests"]), name


def test_secrets_come_by_reference_and_variables_are_ones_that_holdfast_reads() -> None:
    known = {f"HOLDFAST_{name.upper()}" for name in Settings.model_fields}
    known |= {"HOLDFAST_READY_FILE", "HOLDFAST_CONFIG"}
    secret = re.compile(r"(?i)password|api_key|token|secret|database_url")

    assert not [each for each in documents() if each["kind"] == "Secret"]
    for name, pod in pods().items():
        (container,) = pod["containers"]
        assert container["envFrom"] == [{"secretRef": {"name": "holdfast"}}], name
        for variable in container.get("env", []):
            assert not secret.search(variable["name"]), name
            assert not variable["name"].startswith("HOLDFAST_") or variable["name"] in known


def test_services_and_policies_select_pods_that_there_are() -> None:
    labels = [
        each["spec"]["template"]["metadata"]["labels"]
        for each in documents()
        if each["kind"] in ("Deployment", "Job")
    ]
    for each in documents():
        if each["kind"] in ("Service", "NetworkPolicy"):
            spec = each["spec"]
            chosen = (
                spec["podSelector"]["matchLabels"] if "podSelector" in spec else spec["selector"]
            )
            assert any(chosen.items() <= pod.items() for pod in labels), each["metadata"]["name"]
