"""Fuzz the readers of foreign text: `python -m tests.fuzzing [TARGET ...] [--seconds N]`.

Each target runs in a process of its own, because the fuzzer ends its process. An input that breaks
a reader is kept under `inputs/TARGET/`, where the test suite reads it again.
"""

import argparse
import itertools
import subprocess
import sys

from tests.fuzzing.fuzz_targets import TARGETS
from tests.fuzzing.kept_inputs import folder_of


def main() -> int:
    """Fuzz the named targets, or all, and print a line for each; return 1 if one of them broke."""
    names = list(TARGETS)
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.add_argument("targets", nargs="*", help=", ".join(names), metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=600, help="for each target")
    options = parser.parse_args()
    if unknown := sorted(set(options.targets) - set(names)):
        parser.error(f"no such target: {', '.join(unknown)}; there are: {', '.join(names)}")
    sound = [_is_sound(name, options.seconds) for name in options.targets or names]
    return 0 if all(sound) else 1


def _is_sound(name: str, seconds: int) -> bool:
    """True if fuzzing the target for so long found nothing; prints its figures."""
    folder_of(name).mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.fuzzing.fuzz_one", name, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    sys.stdout.write(f"{figures_line(name, done.returncode, done.stderr + done.stdout)}\n")
    sys.stdout.flush()
    if not any(folder_of(name).iterdir()):
        folder_of(name).rmdir()
    return done.returncode == 0


def figures_line(name: str, code: int, told: str) -> str:
    """Return how many inputs the fuzzer tried, the seconds of the slowest one, and what it found."""
    inputs, slowest = _figure(told, "number_of_executed_units"), _figure(told, "slowest_unit_time")
    found = "nothing" if code == 0 else _last_error(told)
    return f"{name}: {inputs} inputs, the slowest took {slowest} s; found: {found}"


def _figure(told: str, name: str) -> str:
    return next((line.split()[-1] for line in told.splitlines() if f"::{name}" in line), "?")


def _last_error(told: str) -> str:
    """The line that names the exception, or else the fuzzer's own last words."""
    lines = [line for line in told.splitlines() if line.strip()]
    named = [after for line, after in itertools.pairwise(lines) if "Uncaught" in line]
    errors = [line for line in lines if "ERROR" in line]
    return (named or errors or lines or ["no output"])[-1][:200]


if __name__ == "__main__":
    sys.exit(main())
