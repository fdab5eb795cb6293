"""Tests that what a release publishes besides the code is whole: licences, SBOM, workflows."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.release.licence_page import (
    PAGE,
    ROOT,
    licence_rows,
    locked_packages,
    page_text,
)

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")
VERSION_COMMENT = re.compile(r"uses: \S+ # v\d+\.\d+\.\d+$")
# What may be distributed and used next to code under Apache-2.0, as the metadata spell it.
PERMITTED = {
    "3-Clause BSD License",
    "Apache Software",
    "Apache-2.0",
    "BSD",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CNRI-Python",
    "ISC License (ISCL)",
    "LGPL-3.0-only",  # psycopg: imported, not copied
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "MPL-1.1",
    "MPL-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)",
    "PSF-2.0",
    "Python Software Foundation",
}


def is_permitted(licence: str) -> bool:
    """True if each part that counts together has an alternative that is permitted."""
    return all(PERMITTED & set(part.split(" OR ")) for part in licence.split(" AND "))


@pytest.mark.conformance("PUB-01")
def test_the_page_names_the_licence_of_every_locked_package() -> None:
    assert PAGE.read_text() == page_text(), "renew docs/licences.md with `make licences`"


@pytest.mark.conformance("PUB-01")
def test_every_package_has_a_licence_that_is_permitted() -> None:
    others = [
        (name, licence)
        for name, licence, _ in licence_rows()
        if not licence.startswith("not read") and not is_permitted(licence)
    ]

    assert others == []


@pytest.mark.conformance("PUB-01")
@pytest.mark.timeout(400)  # under load the program takes minutes
@pytest.mark.slow
def test_the_sbom_lists_every_locked_package_with_its_hashes(tmp_path: Path) -> None:
    file = tmp_path / "sbom.json"
    program = Path(sys.executable).with_name("cyclonedx-py")
    options = ["--pyproject", "pyproject.toml", "--output-reproducible", "-o", str(file)]
    command = [str(program), "requirements", "requirements-all.lock", *options]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=300)
    bom = json.loads(file.read_text())

    assert f"requirements requirements-all.lock {' '.join(options[:3])}" in makefile_commands()
    assert (bom["bomFormat"], bom["metadata"]["component"]["name"]) == ("CycloneDX", "holdfast")
    hashes = {
        each["name"]: [value for place in each["externalReferences"] for value in place["hashes"]]
        for each in bom["components"]
    }
    assert hashes.keys() == locked_packages("requirements-all.lock").keys()
    assert all(hashes.values())


def makefile_commands() -> str:
    """The text of the Makefile, its continued lines joined."""
    return re.sub(r"\\\n\s*", "", (ROOT / "Makefile").read_text())


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for file in WORKFLOWS:
        for name, job in yaml.safe_load(file.read_text())["jobs"].items():
            yield f"{file.stem}: {name}", job


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, job in jobs():
        for step in job["steps"]:
            yield name, step


@pytest.mark.conformance("PUB-02")
def test_every_action_is_pinned_to_the_commit_of_a_named_version() -> None:
    used = [step["uses"] for _, step in steps() if "uses" in step]
    lines = [
        line for file in WORKFLOWS for line in file.read_text().splitlines() if "uses:" in line
    ]

    assert len(used) == len(lines) > 10
    assert [each for each in used if not PINNED.fullmatch(each)] == []
    assert [line for line in lines if not VERSION_COMMENT.search(line)] == []


@pytest.mark.conformance("PUB-02")
def test_a_workflow_may_only_read_and_its_jobs_end() -> None:
    loaded = [yaml.safe_load(file.read_text()) for file in WORKFLOWS]

    assert [each["permissions"] for each in loaded] == [{"contents": "read"}] * len(WORKFLOWS)
    assert [name for name, job in jobs() if "timeout-minutes" not in job] == []


@pytest.mark.conformance("PUB-02")
def test_a_workflow_runs_targets_that_the_makefile_has() -> None:
    ran = [
        target for _, step in steps() for target in re.findall(r"make (\S+)", step.get("run", ""))
    ]
    makefile = (ROOT / "Makefile").read_text().replace("$(VENV)", ".venv")

    assert {"check", "test", "packages", "audit"} <= set(ran)
    assert [
        each for each in ran if not re.search(rf"^{re.escape(each)}:", makefile, re.MULTILINE)
    ] == []


def test_an_audit_that_looked_nothing_up_does_not_pass() -> None:
    [command] = re.findall(r"pip-audit .*", (ROOT / "Makefile").read_text())

    assert "--strict" in command
    assert "requirements-all.lock" in command


@pytest.mark.conformance("PUB-02")
def test_nothing_is_published_that_was_not_tested_and_signed() -> None:
    release = dict(jobs())
    built = [step.get("run", step.get("uses", "")) for step in release["release: build"]["steps"]]
    order = ["make test", '"v$(.venv/bin/hatchling version)"', "make packages", "attest-build"]
    places = [next(i for i, each in enumerate(built) if part in each) for part in order]

    assert places == sorted(places)
    assert set(release["release: publish"]["needs"]) == {"build", "image"}
    assert release["release: publish"]["environment"] == "pypi"


def test_every_version_that_is_built_is_supported() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    supported = re.findall(r"^\| ([\d.]+) \|", (ROOT / "SECURITY.md").read_text(), re.MULTILINE)

    assert version.rpartition(".")[0] in supported
