"""Run the failed tests of a whole run once more, alone.

The whole suite keeps a machine busy with three services' worth of tests at a time, so that a limit
of time can be missed by chance. A fault of the code fails again when its test has the machine to
itself. Nothing is hidden: the first run prints its failures in full, and this run names each test
that passed only the second time, because such a test has a fault of its own that is to be mended.

`FailedTests` is the plugin of the whole run. `python -m tests.support.second_run` is what
`make test` runs after a failure; its exit code is 0 if each failed test passed.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.conformance_run import ConformanceRun, is_whole_run

MOST_TESTS = 10
"""More failures than this are a fault of the code or of the machine, not chance."""
LIST = Path("build/failed_tests.txt")


@dataclass(eq=False)
class FailedTests:
    """The plugin that lists the failed tests of a whole run in `LIST`, a node id a line.

    The list is missing unless a second run can show that the whole run is good: the run was whole,
    had 1 to `MOST_TESTS` failures, and has no other fault.
    """

    conformance: ConformanceRun
    failed: dict[str, None] = field(default_factory=dict)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        if not hasattr(session.config, "workerinput") and is_whole_run(session.config):
            LIST.unlink(missing_ok=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput") or not is_whole_run(session.config):
            return
        was_cut_off = session.shouldstop or session.shouldfail
        is_chance = 0 < len(self.failed) <= MOST_TESTS and not was_cut_off
        if is_chance and session.exitstatus == 1 and not self.conformance.unproven_without_failures:
            LIST.parent.mkdir(exist_ok=True)
            LIST.write_text("".join(f"{name}\n" for name in self.failed))


def run_again(record: Path) -> int:
    """Run the tests of `LIST` and return the exit code; add their outcomes to `record`."""
    if not LIST.exists():
        return 1
    names = LIST.read_text().splitlines()
    print(  # noqa: T201
        f"\n{len(names)} failed above; each runs once more, alone:", *names, sep="\n  ", flush=True
    )
    before = _read(record)
    ended = subprocess.run([sys.executable, "-m", "pytest", "-q", f"@{LIST}"], check=False)
    LIST.unlink()
    after = _read(record)
    merged = {row: {**before.get(row, {}), **after.get(row, {})} for row in {*before, *after}}
    record.write_text(json.dumps(dict(sorted(merged.items())), indent=1) + "\n")
    if ended.returncode == 0:
        print("PASSED ONLY ALONE (mend these tests):", *names, sep="\n  ")  # noqa: T201
    return ended.returncode


def _read(record: Path) -> Mapping[str, dict[str, Any]]:
    return json.loads(record.read_text()) if record.exists() else {}


if __name__ == "__main__":
    sys.exit(run_again(Path("build/conformance.json")))
