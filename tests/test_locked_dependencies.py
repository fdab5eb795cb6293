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

    assert len(locks) == 4
    assert not any("://" in lock.read_text() for lock in locks)


def test_the_optional_parts_are_in_no_first_run() -> None:
    names = {pin.partition("==")[0] for pin in pins("requirements.lock")}

    heavy = {"duckdb", "pillow", "pydantic-monty", "pypdf", "trafilatura", "vl-convert-python"}
    assert names & heavy == set()
    assert len(names) <= 70
