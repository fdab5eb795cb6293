"""Apply breakages one by one, and print which are caught by the tests that carry their row.

python -m tests.breakages            # all of them; some take a minute
python -m tests.breakages KPI-07     # those of a row, or of a name
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.breakages.breakage_list import ROOT, Breakage, chosen_breakages

_FAILED = re.compile(r"^FAILED (\S+)", re.MULTILINE)


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
    """Run the tests that carry the row until one fails."""
    files = breakage.test_files()
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--row", breakage.row, *files]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True)


def verdict_on(breakage: Breakage, checkout: Path) -> tuple[bool, str]:
    """Return whether the breakage is caught, and by which test; the copy is whole afterwards."""
    path = checkout / breakage.file
    whole = path.read_text()
    path.write_text(breakage.broken(whole))
    try:
        ran = run_tests(breakage, checkout)
    finally:
        path.write_text(whole)
    by = _FAILED.search(ran.stdout)
    if ran.returncode == 1 and by:
        return True, by[1]
    if ran.returncode == 0:
        return False, "all tests of the row passed"
    return False, f"pytest ended with {ran.returncode}: {(ran.stdout + ran.stderr)[-2000:]}"


def main(names: list[str]) -> int:
    """Return 1 if a breakage was not caught."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="hfb") as folder:
        checkout = copied_checkout(Path(folder))
        for each in chosen_breakages(names):
            is_caught, how = verdict_on(each, checkout)
            missed += not is_caught
            word = "caught by" if is_caught else "NOT CAUGHT:"
            sys.stdout.write(f"{each.name:20} {each.row:8} {word} {how}\n")
            sys.stdout.flush()
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
