"""Run all benchmarks, or the named ones: `python -m benchmarks [NAME...] [--json] [--rounds N]`."""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

from benchmarks.api import api_load
from benchmarks.corpus import corpus_search_time
from benchmarks.durability import job_growth, kill_recovery
from benchmarks.engine import critical_path_time, first_report_time, task_overhead
from benchmarks.page import page_load
from benchmarks.records import fork_cost
from benchmarks.setup.benchmark_figures import MeasuredFigure, figures_as_data, figures_as_table
from benchmarks.tools import hub_overhead
from benchmarks.workers import worker_memory
from holdfast.configuration.json_logs import configure_logs

Measure = Callable[[], Awaitable[list[MeasuredFigure]]]


def main() -> None:
    arguments = _arguments()
    # Before any MCP server is made: the library would set up logging of its own.
    configure_logs("ERROR")
    known = _benchmarks(arguments.rounds, timedelta(minutes=arguments.minutes))
    results = {}
    for name in arguments.names or known:
        figures = asyncio.run(_run(known[name]))
        results[name] = figures_as_data(figures)
        if not arguments.json:
            print(f"\n{name}\n{figures_as_table(figures)}", flush=True)
    if arguments.json:
        print(json.dumps(results, indent=1))


def _benchmarks(rounds: int, look: timedelta) -> dict[str, Measure]:
    return {
        "overhead": partial(task_overhead.measure, rounds),
        "critical_path": partial(critical_path_time.measure, rounds),
        "memory": worker_memory.measure,
        "first_report": partial(first_report_time.measure, rounds),
        "recovery": partial(kill_recovery.measure, rounds),
        "growth": job_growth.measure,
        "fork": fork_cost.measure,
        "hub": partial(hub_overhead.measure, rounds),
        "api": api_load.measure,
        "page": partial(page_load.measure, look=look),
        "corpus": corpus_search_time.measure,
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", choices=[[], *_benchmarks(1, page_load.LOOK)]
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each arm (5)")
    parser.add_argument(
        "--minutes", type=float, default=1, help="how long `page` looks at a running job (1)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser.parse_args()


async def _run(measure: Measure) -> list[MeasuredFigure]:
    return await measure()


if __name__ == "__main__":
    main()
