"""Renew the small tables of docs/evaluation.md: run their commands, and keep what they print.

    python -m holdfast.evals [FILE] [--only NAME] [--large] [--out build/evals]

FILE has questions in HotpotQA's or MuSiQue's format. Needs no model and no key. Each table is kept
in a file of --out that begins with its command, commit, data, date and the time that it took. A
table whose data are missing is left out, and named. `--large` runs the large tables too, which take
40 minutes.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from holdfast.evals.child_command import run_child
from holdfast.evals.command_exit import command_exit
from holdfast.evals.measures.question_files import DEFAULT_FILE
from holdfast.evals.oracle.oracle_runs import DATA_FOLDER

_ROOT = Path(__file__).resolve().parents[1]
_PREFIX = "holdfast.evals."


@dataclass(frozen=True)
class SmallTable:
    """One table, and the module that makes it."""

    name: str
    module: str
    arguments: tuple[str, ...] = ()
    data: Path | None = None
    """What has to be there; None for tables that bring their own cases."""
    is_large: bool = False
    """True if it is not among those that take less than 15 minutes together."""

    @property
    def command(self) -> str:
        return " ".join(["python -m", _PREFIX + self.module, *self.arguments])


def small_tables(questions: Path) -> tuple[SmallTable, ...]:
    """The tables in the order of the page; those over `questions` come first, large ones last."""
    programs, musique = DATA_FOLDER / "kopl_mini", DATA_FOLDER / "musique/train100.jsonl"
    both = (str(questions), str(musique))
    return (
        SmallTable(
            "citations", "citations", (str(questions), "--held-out", "--limit", "100"), questions
        ),
        SmallTable("confidence", "extractive_offline", (str(questions), "--to", "300"), questions),
        SmallTable("coordination", "coordination"),
        SmallTable("oracle", "oracle", ("kopl-lab",), programs),
        SmallTable("proof", "proof"),
        SmallTable("words", "recall", (*both, "--words"), musique),
        SmallTable("tokens", "tokens"),
        SmallTable("hotpotqa", "citations", (str(questions),), questions, is_large=True),
        SmallTable("musique", "citations", (str(musique),), musique, is_large=True),
        SmallTable("recall", "recall", both, musique, is_large=True),
        SmallTable("deviations", "papers", ("tdp", "--limit", "3"), programs, is_large=True),
        SmallTable(
            "horizon",
            "papers",
            ("horizon", "--fault-rate", "0.3", "--limit", "12"),
            programs,
            is_large=True,
        ),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tables one after the other; the exit code is 1 if one failed."""
    chosen = parsed_arguments(arguments)
    tables = small_tables(chosen.file)
    names = [each.name for each in tables]
    if chosen.only and chosen.only not in names:
        print(f"there is no table {chosen.only!r}; tables: {', '.join(names)}", file=sys.stderr)
        return 2
    chosen.out.mkdir(parents=True, exist_ok=True)
    wanted = [each for each in tables if is_wanted(each, chosen)]
    return command_exit(lambda: _renew_all(wanted, chosen.out))


def _renew_all(tables: Sequence[SmallTable], out: Path) -> int:
    """Run all tables, also behind one that failed."""
    return 0 if all([_renew(each, out) for each in tables]) else 1  # noqa: C419 - runs all


def parsed_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m holdfast.evals",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT_FILE)
    parser.add_argument("--only", metavar="NAME", help="one table")
    parser.add_argument("--large", action="store_true", help="the large tables too")
    parser.add_argument("--out", type=Path, default=Path("build/evals"))
    return parser.parse_args(arguments)


def is_wanted(table: SmallTable, chosen: argparse.Namespace) -> bool:
    """True if the table is named, or none is and its size is asked for."""
    if chosen.only:
        return bool(table.name == chosen.only)
    return bool(chosen.large) or not table.is_large


def _renew(table: SmallTable, out: Path) -> bool:
    """Run one table and print it; False if its command failed."""
    print(f"## {table.name}\n", flush=True)
    if table.data is not None and not table.data.exists():
        print(f"left out: there is no {table.data.name}; docs/evaluation.md says where it is\n")
        return True
    began, used = time.monotonic(), _processor_seconds()
    command = [sys.executable, "-m", _PREFIX + table.module, *table.arguments]
    ran = run_child(command, is_captured=True)
    took, spent = time.monotonic() - began, _processor_seconds() - used
    heading = [
        f"command: {table.command}",
        f"commit: {_commit()}",
        f"data: {table.data.name if table.data else 'of the repository'}",
        f"date: {datetime.now(UTC).date().isoformat()}",
        f"took: {took:.0f} s, {spent:.0f} s of processor time, load {os.getloadavg()[0]:.0f}",
    ]
    text = "\n".join([*heading, "", ran.stdout])
    (out / f"{table.name}.txt").write_text(text, encoding="utf-8")
    print(text, flush=True)
    if ran.returncode:
        print(f"{table.command} ended with {ran.returncode}", file=sys.stderr)
    return ran.returncode == 0


def _processor_seconds() -> float:
    """What the commands that have ended took of the processors, without the services' time."""
    times = os.times()
    return times.children_user + times.children_system


def _commit() -> str:
    """The commit of the checkout, and whether files differ from it; unknown without git."""
    described = subprocess.run(
        ["git", "-C", str(_ROOT), "describe", "--always", "--dirty=, with changes"],
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
