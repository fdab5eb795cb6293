"""Tests that `holdfast replay` finds the jobs of the recorded bundles as they were."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from holdfast.cli.commands.replay_command import EXIT_DIFFERENT
from tests.replay.bundle_recording import BUNDLES, RENEW
from tests.support.services.command_shell import command_shell

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.conformance("REC-03")
@pytest.mark.conformance("WAVE-10")
def test_the_jobs_of_the_recorded_bundles_are_today_what_they_were(tmp_path: Path) -> None:
    junit = tmp_path / "replay.xml"
    stricter = ("--set", "confidence_threshold=1", "--set", "max_replans=0")
    with command_shell() as here:
        here.holdfast("up")
        replayed = here.holdfast("replay", str(BUNDLES), "--junit", str(junit), "--json")
        assert replayed.out, replayed.err
        results = json.loads(replayed.out)
        derived = [here.holdfast("rederive", each["origin"]) for each in results]
        other = here.holdfast("replay", str(BUNDLES / "vmao.crate.zip"), *stricter)

    assert [each["bundle"] for each in results if not each["is_same"]] == [], RENEW
    assert (replayed.code, len(results)) == (0, 3)
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "0")
    assert [each.out for each in derived if each.code] == [], RENEW
    assert other.code == EXIT_DIFFERENT, other.out
    assert "gone:" in other.out
