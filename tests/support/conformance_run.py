"""Record what the tests of each conformance row came to, and fail a whole run that leaves a row
without a passing test.

A run is whole if nothing was left out of it: no file, no mark but those of the settings, no `-k`,
no `-x`. Other runs show less than the page promises, so they write the record and judge nothing.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest

ID = r"[A-Z]{3,4}-\d\d"
_ROWS = "conformance"
_OF_PLATFORM = re.compile(r"\b(linux|root|bubblewrap|processor|kernel|systems?)\b", re.IGNORECASE)
"""Words of a skip's reason that says what this machine lacks."""


class Outcome(NamedTuple):
    """What one test came to, with the reason if it was skipped."""

    result: str
    reason: str = ""

    @property
    def is_proof(self) -> bool:
        """True if the test passed, or cannot run on this machine."""
        skipped_here = self.result == "skipped" and bool(_OF_PLATFORM.search(self.reason))
        return self.result == "passed" or skipped_here


def states_by_row(page: Path) -> dict[str, str]:
    """Return the state (tested, planned) of each row of the page."""
    rows = re.findall(
        rf"^\| ({ID}) \| .+\. \| (tested|planned) \|$", page.read_text(), re.MULTILINE
    )
    assert len(rows) == len(dict(rows)), "an id stands twice"
    return dict(rows)


def unproven_rows(
    states: Mapping[str, str], outcomes: Mapping[str, Mapping[str, Outcome]]
) -> list[str]:
    """Return the rows called tested of which no test passed, or which a test disproves."""
    tested = (row for row, state in states.items() if state == "tested")
    return sorted(row for row in tested if not _is_proven(outcomes.get(row, {}).values()))


def _is_proven(found: Collection[Outcome]) -> bool:
    return any(each.is_proof for each in found) and all(e.result != "failed" for e in found)


def _as_passed(
    outcomes: Mapping[str, Mapping[str, Outcome]],
) -> dict[str, dict[str, Outcome]]:
    """Return the outcomes with each failure as a pass."""
    passed = Outcome("passed")
    return {
        row: {name: passed if each.result == "failed" else each for name, each in found.items()}
        for row, found in outcomes.items()
    }


def rows_of(item: pytest.Item) -> list[str]:
    """Return the rows that a test carries."""
    return [row for mark in item.iter_markers("conformance") for row in mark.args]


def is_whole_run(config: pytest.Config) -> bool:
    """True if the command leaves no test out but those that the settings themselves leave out."""
    chosen = ("keyword", "deselect", "ignore", "ignore_glob", "row", "maxfail")
    from_settings = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    as_set = config.getoption("markexpr", "") == _mark_expression(config.getini("addopts"))
    return from_settings and as_set and not any(config.getoption(name, None) for name in chosen)


def _mark_expression(options: Sequence[str]) -> str:
    """Return the marks that the settings choose (`-m`); empty where they choose none."""
    return options[options.index("-m") + 1] if "-m" in options else ""


@dataclass(eq=False)  # pytest puts plugins into sets where a folder has a conftest of its own
class ConformanceRun:
    """The plugin of a run: `page` has the rows, `record` gets the outcomes by row."""

    page: Path
    record: Path
    outcomes: dict[str, dict[str, Outcome]] = field(default_factory=lambda: defaultdict(dict))
    unproven: list[str] = field(default_factory=list)
    unproven_without_failures: list[str] = field(default_factory=list)
    """What would be unproven if each failed test had passed."""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        """Send the rows of a test along with what it came to."""
        outcome = yield
        outcome.get_result().user_properties.append((_ROWS, rows_of(item)))  # type: ignore[attr-defined]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note for each row what its tests came to, whichever process ran them."""
        if report.when == "call" or not report.passed:
            for name, rows in report.user_properties:
                for row in rows if name == _ROWS else ():  # type: ignore[attr-defined]
                    self.outcomes[row][report.nodeid] = Outcome(report.outcome, _reason(report))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if hasattr(session.config, "workerinput") or not self.outcomes:
            return
        self._write()
        was_cut_off = session.shouldstop or session.shouldfail
        if is_whole_run(session.config) and not was_cut_off and exitstatus in (0, 1):
            states = states_by_row(self.page)
            self.unproven = unproven_rows(states, self.outcomes)
            self.unproven_without_failures = unproven_rows(states, _as_passed(self.outcomes))
        if self.unproven:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for row in self.unproven:
            found = self.outcomes.get(row, {})
            listed = ", ".join(f"{name} {each.result}" for name, each in sorted(found.items()))
            terminalreporter.write_line(
                f"UNPROVEN {row}: {self.page.name} calls it tested, and no test shows it: "
                f"{listed or 'no test of it ran'}",
                red=True,
            )

    def _write(self) -> None:
        self.record.parent.mkdir(exist_ok=True)
        ordered = {
            row: {name: each.result for name, each in sorted(self.outcomes[row].items())}
            for row in sorted(self.outcomes)
        }
        self.record.write_text(json.dumps(ordered, indent=1) + "\n")


def _reason(report: pytest.TestReport) -> str:
    """Return why a test was skipped; empty for another outcome."""
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""
