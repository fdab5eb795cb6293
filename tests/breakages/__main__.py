"""Apply breakages one by one, and print which are caught by the tests that carry their row.

python -m tests.breakages            # all of them; some take a minute
python -m tests.breakages KPI-07     # those of a row, or of a name
python -m tests.breakages --record KPI-07    # and keep what caught them: caught.json, and the page
python -m tests.breakages --record --new     # those that were never tried
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.breakages.breakage_list import ROOT, Breakage, all_breakages, chosen_breakages
from tests.breakages.caught_records import CaughtRecord, read_records, write_records
from tests.breakages.held_page import renew_page

_WITH_SERVICES = ("tests/engine/", "tests/durability/", "tests/servers/")
"""Where a test plays whole jobs, and takes seconds."""
_OUT_OF_TIME = "Failed: Timeout (>"
"""What pytest-timeout says."""
_FAILED = re.compile(r"^FAILED ([^\s\[]+)", re.MULTILINE)


def copied_checkout(folder: Path) -> Path:
    """A copy of the files that git knows or would add, links included."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, folder / name
        if source.exists() or source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    return folder


def run_tests(breakage: Breakage, checkout: Path) -> subprocess.CompletedProcess[str]:
    """Run the tests that carry the row until one fails, those without services first."""
    files = sorted(breakage.test_files(), key=lambda path: path.startswith(_WITH_SERVICES))
    return _pytest(checkout, "-p", "no:randomly", "--row", breakage.row, *files)


def run_test(name: str, checkout: Path) -> subprocess.CompletedProcess[str]:
    """Run one test, named as `path::name`."""
    return _pytest(checkout, name)


def _pytest(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # A long test that notices a breakage counts as well: no mark leaves a test out.
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "", *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True)


class NotTried(Exception):
    """The tests of a row could not be run, so nothing is known of the breakage."""


def verdict_on(breakage: Breakage, checkout: Path, passed: set[str]) -> str:
    """Return the test that caught the breakage, empty if none did; the copy is whole afterwards.

    `passed` has the tests that are known to pass on the whole code; this one joins them.

    Raises:
        NotTried: the tests ended with an error, as when a service does not start, or the test
            that failed fails without the breakage as well, or reached its limit of time.
    """
    path = checkout / breakage.file
    whole = path.read_text()
    path.write_text(breakage.broken(whole))
    try:
        ran = run_tests(breakage, checkout)
    finally:
        path.write_text(whole)
    by = _FAILED.search(ran.stdout)
    if by and _OUT_OF_TIME in ran.stdout:
        raise NotTried(f"{by[1]} reached its limit of time, which a busy machine is enough for")
    if ran.returncode == 1 and by:
        if by[1] in passed:
            return by[1]
        alone = run_test(by[1], checkout)
        if alone.returncode == 0:
            passed.add(by[1])
            return by[1]
        said = (alone.stdout + alone.stderr)[-2000:]
        raise NotTried(f"{by[1]} does not pass on the whole code either: {said}")
    if ran.returncode == 0:
        return ""
    raise NotTried(f"pytest ended with {ran.returncode}: {(ran.stdout + ran.stderr)[-2000:]}")


def tried(breakages: Iterable[Breakage], checkout: Path) -> Iterator[tuple[Breakage, str | None]]:
    """Yield each breakage with the test that caught it, and print it.

    Empty: no test did. None: the tests could not be run.
    """
    passed: set[str] = set()
    for each in breakages:
        caught_by: str | None
        try:
            caught_by = verdict_on(each, checkout, passed)
            said = f"caught by {caught_by}" if caught_by else "NOT CAUGHT: all tests passed"
        except NotTried as error:
            caught_by, said = None, f"NOT TRIED: {error}"
        sys.stdout.write(f"{each.name:20} {each.row:8} {said}\n")
        sys.stdout.flush()
        yield each, caught_by


def keep(name: str, caught_by: str) -> None:
    """Keep what caught the breakage, and renew the page; the work so far outlives an interrupt."""
    record = CaughtRecord(caught_by=caught_by, tried=datetime.now(UTC).date())
    records = read_records() | {name: record}
    write_records(records, all_breakages())
    renew_page(all_breakages(), records)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 if a breakage was not caught, or could not be tried."""
    parser = argparse.ArgumentParser(prog="python -m tests.breakages", description=__doc__)
    parser.add_argument("names", nargs="*", help="breakages or rows; all without any")
    parser.add_argument("--record", action="store_true", help="keep what caught them")
    parser.add_argument("--new", action="store_true", help="leave out those that were recorded")
    chosen = parser.parse_args(arguments)
    known = read_records() if chosen.new else {}
    wanted = [each for each in chosen_breakages(chosen.names) if each.name not in known]
    missed = 0
    with tempfile.TemporaryDirectory(prefix="hfb") as folder:
        for each, caught_by in tried(wanted, copied_checkout(Path(folder))):
            missed += not caught_by
            if chosen.record and caught_by is not None:
                keep(each.name, caught_by)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
