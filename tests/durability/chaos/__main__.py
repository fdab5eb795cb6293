"""Run rounds of random kills: `python -m tests.durability.chaos [--rounds N] [--seed S] [--only
ROUND] [--json FILE]`."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from holdfast.configuration.json_logs import configure_logs
from tests.durability.chaos.chaos_installation import chaos_installation
from tests.durability.chaos.chaos_results import ChaosResults, round_line
from tests.durability.chaos.chaos_rounds import Chaos
from tests.durability.chaos.job_shapes import PlanPattern

_LOGS = Path("build/chaos")


def main() -> int:
    arguments = _arguments()
    # Before any MCP server is made: the library would set up logging of its own.
    configure_logs("ERROR")
    numbers = [arguments.only] if arguments.only else range(1, arguments.rounds + 1)
    figures = asyncio.run(_run(arguments.seed, numbers, _patterns(arguments.patterns)))
    _say(f"\n{figures.as_table()}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures.as_data(), indent=1) + "\n")
    if not figures.findings:
        return 0
    _say(_how_to_repeat(figures))
    return 1


def _patterns(names: str) -> tuple[PlanPattern, ...]:
    return tuple(PlanPattern(name) for name in names.split(",")) if names else tuple(PlanPattern)


async def _run(seed: int, numbers: Sequence[int], patterns: Sequence[PlanPattern]) -> ChaosResults:
    figures = ChaosResults(seed)
    async with chaos_installation(seed) as installation:
        try:
            await _work(Chaos(installation, seed, patterns), numbers, figures)
        finally:
            # Of a run that broke as well: the logs go with the installation.
            installation.keep_logs(_LOGS)
    return figures


async def _work(chaos: Chaos, numbers: Sequence[int], figures: ChaosResults) -> None:
    _say("every shape undisturbed first")
    await chaos.prepare(numbers)
    for number in numbers:
        this = await chaos.round(number)
        figures.rounds.append(this)
        _say(
            "\n".join(
                (round_line(this), *(f"      {f.job}: {f.breach.what}" for f in this.findings))
            )
        )
    figures.installation_breaches = await chaos.check_installation()


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
