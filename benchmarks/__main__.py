"""`python -m benchmarks [NAME...] [--json] [--rounds N]`: run all benchmarks, or those named."""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial

from benchmarks import (
    corpus,
    critical_path,
    first_report,
    growth,
    hub,
    memory,
    overhead,
    recovery,
)
from benchmarks.figures import Figure, as_data, as_table
from holdfast.logs import configure_logs

Measure = Callable[[], Awaitable[list[Figure]]]


def main() -> None:
    arguments = _arguments()
    # Before any MCP server is made: the library would set up logging of its own.
    configure_logs("ERROR")
    known = _benchmarks(arguments.rounds)
    results = {}
    for name in arguments.names or known:
        figures = asyncio.run(_run(known[name]))
        results[name] = as_data(figures)
        if not arguments.json:
            print(f"\n{name}\n{as_table(figures)}", flush=True)
    if arguments.json:
        print(json.dumps(results, indent=1))


def _benchmarks(rounds: int) -> dict[str, Measure]:
    return {
        "overhead": partial(overhead.measure, rounds),
        "critical_path": partial(critical_path.measure, rounds),
        "memory": memory.measure,
        "first_report": partial(first_report.measure, rounds),
        "recovery": partial(recovery.measure, rounds),
        "growth": growth.measure,
        "hub": partial(hub.measure, rounds),
        "corpus": corpus.measure,
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *_benchmarks(1)])
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each arm (5)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser.parse_args()


async def _run(measure: Measure) -> list[Figure]:
    return await measure()


if __name__ == "__main__":
    main()
