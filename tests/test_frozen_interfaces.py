"""Tests that what a release froze is still there (docs/stability.md)."""

import re
import tomllib

import pytest

from tests.support.release.frozen_interfaces import (
    FOLDER,
    KINDS,
    ROOT,
    recorded,
    removals,
)

PAGE = (ROOT / "docs/stability.md").read_text()
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
RELEASED = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


@pytest.mark.conformance("PUB-04")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_nothing_that_is_frozen_is_gone(kind: str) -> None:
    allowed = {line for of, line in removals(PAGE, VERSION) if of == kind}
    gone = recorded(kind) - set(KINDS[kind]()) - allowed

    rule = (
        "docs/stability.md says how a frozen name may change"
        if RELEASED
        else "nothing is released yet: if the change is meant, renew the recording with `make frozen`"
    )
    assert sorted(gone) == [], f"{kind}: frozen names are gone or changed; {rule}"


@pytest.mark.conformance("PUB-04")
def test_a_name_goes_one_minor_release_after_its_deprecation_at_the_earliest() -> None:
    row = "| `command-line` | `holdfast old` | {since}.0 | {gone}.0 | `holdfast new` |\n"
    at_once = row.format(since="0.2", gone="0.2")
    later = row.format(since="0.2", gone="0.3")

    assert removals(at_once, "0.2.0") == set()
    assert removals(later, "0.2.5") == set()
    assert removals(later, "0.3.0") == {("command-line", "holdfast old")}


def test_what_a_history_keeps_is_recorded_down_to_what_it_contains() -> None:
    order_of_the_workflow, inside_an_order = "JobOrder.job_id", "WorkLimit.value"
    taken_by_an_update, second_workflow = "SteerRequest.guidance", "workflow scheduled_run"

    kept = {order_of_the_workflow, inside_an_order, taken_by_an_update, second_workflow}
    assert kept <= recorded("workflow-names")


def test_every_kind_is_recorded_and_on_the_page() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(KINDS)
    assert [kind for kind in KINDS if f"`{kind}`" not in PAGE] == []


def test_every_release_has_a_recording_of_its_installation() -> None:
    installations = ROOT / "tests/upgrades/installations"

    assert [v for v in RELEASED if not (installations / f"{v}.sql.xz").exists()] == []
