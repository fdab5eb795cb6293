"""Run the coordination benchmark: seven patterns, three arms, no model and no key.

    python -m holdfast.evals.coordination [--cases silo,lockstep] [--out FOLDER] [--json]

Starts a PostgreSQL and a Temporal of its own in a temporary folder. The exit code is 1 if the
coordinated arm did not answer every case rightly, or a job did not come to its end.
docs/evaluation.md says what the cases are.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.configuration.json_logs import configure_logs
from holdfast.evals.command_exit import command_exit
from holdfast.evals.coordination.coordination_cases import CoordinationCase, coordination_cases
from holdfast.evals.coordination.coordination_runs import run_coordination
from holdfast.evals.coordination.coordination_table import (
    coordination_figures,
    coordination_lines,
)
from holdfast.models.errors import BadInput


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases, print the figures, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m holdfast.evals.coordination",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cases", help="ids of cases, with commas between them; all by default")
    parser.add_argument("--jobs", type=int, default=3, help="jobs in flight")
    parser.add_argument("--out", type=Path, help="keep the lines there; the same folder continues")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    configure_logs("WARNING")
    return command_exit(lambda: _run(chosen))


def _run(chosen: argparse.Namespace) -> int:
    cases = _chosen_cases(chosen.cases)
    with TemporaryDirectory(prefix="holdfast-coordination-") as folder:
        found = run_coordination(cases, chosen.out or Path(folder), chosen.jobs)
    figures = coordination_figures(cases, found)
    shown = (
        figures.model_dump_json(indent=1) if chosen.json else "\n".join(coordination_lines(figures))
    )
    print(shown)
    coordinated = figures.arms[0]
    is_whole = not (figures.invalid or figures.missing or figures.leaked)
    return 0 if is_whole and coordinated.right == len(cases) else 1


def _chosen_cases(names: str | None) -> list[CoordinationCase]:
    known = {each.id: each for each in coordination_cases()}
    wanted = [name.strip() for name in names.split(",")] if names else list(known)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise BadInput(f"there is no case {unknown[0]!r}; cases: {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(wanted)]


if __name__ == "__main__":
    sys.exit(main())
