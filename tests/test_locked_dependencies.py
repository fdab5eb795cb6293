"""Tests that the locked sets agree: a first run, all optional parts, and the tests."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def pins(name: str) -> set[str]:
    """Each package of a lock file with its version."""
    return set(re.findall(r"^[a-z0-9-]+==\S+", (ROOT / name).read_text(), re.MULTILINE))


def test_each_lock_holds_the_smaller_one_in_the_same_versions() -> None:
    base, full, dev = map(
        pins, ("requirements.lock", "requirements-all.lock", "requirements-dev.lock")
    )

    assert base < full < dev


def test_a_lock_names_no_address() -> None:
    locks = list(ROOT.glob("requirements*.lock"))

    assert len(locks) == 6
    assert not any("://" in lock.read_text() for lock in locks)


def test_the_optional_parts_are_in_no_first_run() -> None:
    names = {pin.partition("==")[0] for pin in pins("requirements.lock")}

    heavy = {"duckdb", "pillow", "pydantic-monty", "pypdf", "trafilatura", "vl-convert-python"}
    assert names & heavy == set()
    assert len(names) <= 70


def test_the_peers_are_locked_apart_in_the_versions_of_the_tests() -> None:
    peers, dev = pins("requirements-peers.lock"), pins("requirements-dev.lock")
    versions = dict(pin.split("==") for pin in dev)

    assert {"gpt-researcher", "pydantic-ai-slim"} <= {pin.partition("==")[0] for pin in peers - dev}
    shared = {pin for pin in peers if pin.partition("==")[0] in versions}
    assert len(shared) > 20
    assert shared <= dev
