"""Run rounds of random disturbances: `python -m tests.durability.chaos [--rounds N] [--seed S]
[--minutes M] [--only ROUND] [--kinds NAMES] [--json FILE]`."""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterable
from itertools import takewhile
from math import inf
from pathlib import Path

from holdfast.configuration.json_logs import configure_logs
from tests.durability.chaos.chaos_installation import chaos_installation
from tests.durability.chaos.chaos_results import ChaosResults, round_line
from tests.durability.chaos.chaos_rounds import Chaos
from tests.durability.chaos.disturbances.disturbance_kinds import DisturbanceKind
from tests.durability.chaos.job_shapes import PlanPattern

_LOGS = Path("build/chaos")


def main() -> int:
    arguments = _arguments()
    # Before any MCP server is made: the library would set up logging of its own.
    configure_logs("ERROR")
    figures = asyncio.run(_run(arguments))
    _say(f"\n{figures.as_table()}")
    if not figures.findings:
        return 0
    _say(_how_to_repeat(figures))
    return 1


async def _run(arguments: argparse.Namespace) -> ChaosResults:
    figures = ChaosResults(arguments.seed)
    async with chaos_installation(arguments.seed) as installation:
        chaos = Chaos(installation, arguments.seed)
        if arguments.patterns:
            chaos.patterns = [PlanPattern(name) for name in arguments.patterns.split(",")]
        if arguments.kinds:
            chaos.kinds = [DisturbanceKind[name] for name in arguments.kinds.upper().split(",")]
        figures.impossible = chaos.impossible
        try:
            await _work(chaos, _numbers(arguments), figures, arguments.json)
        finally:
            # Of a run that broke as well: the logs go with the installation.
            installation.keep_logs(_LOGS / str(arguments.seed))
    return figures


def _numbers(arguments: argparse.Namespace) -> Iterable[int]:
    """The rounds to run: one, or so many, as far as they begin within the time."""
    if arguments.only:
        return [arguments.only]
    end = time.monotonic() + 60 * arguments.minutes
    numbers = range(arguments.first, arguments.first + arguments.rounds)
    return takewhile(lambda _: time.monotonic() < end, numbers)


async def _work(
    chaos: Chaos, numbers: Iterable[int], figures: ChaosResults, file: Path | None
) -> None:
    for number in numbers:
        this = await chaos.round(number)
        figures.rounds.append(this)
        _say(
            "\n".join(
                (round_line(this), *(f"      {f.job}: {f.breach.what}" for f in this.findings))
            )
        )
        _write(figures, file)  # a long run that is ended early has its figures
    figures.installation_breaches = await chaos.check_installation()
    _write(figures, file)


def _write(figures: ChaosResults, file: Path | None) -> None:
    if file:
        file.write_text(json.dumps(figures.as_data(), indent=1) + "\n")


def _how_to_repeat(figures: ChaosResults) -> str:
    wrong = [str(each.number) for each in figures.rounds if each.findings]
    again = f"python -m tests.durability.chaos --seed {figures.seed} --only"
    return (
        f"\nseed {figures.seed}: {len(figures.findings)} breaches in rounds {', '.join(wrong)}; "
        f"the services' logs are in {_LOGS}.\nOne round again: "
        f"{again} {wrong[0] if wrong else 'ROUND'}; all: make chaos N={len(figures.rounds)} "
        f"SEED={figures.seed}"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.durability.chaos", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100, help="how many rounds (100)")
    parser.add_argument("--seed", type=int, default=1, help="what all dice hang on (1)")
    parser.add_argument("--first", type=int, default=1, help="the first round (1)")
    parser.add_argument("--minutes", type=float, default=inf, help="none begins later")
    parser.add_argument(
        "--kinds", default="", metavar="NAMES", help="only these, as `kills,outage` (all)"
    )
    parser.add_argument("--only", type=int, metavar="ROUND", help="nothing but this round")
    parser.add_argument(
        "--patterns", default="", metavar="NAMES", help="only these, as `tdp,vmao` (all)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
