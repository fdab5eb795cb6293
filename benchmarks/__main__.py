"""Run all benchmarks, or the named ones: `python -m benchmarks [NAME...] [--json] [--rounds N]`."""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta

from benchmarks.api import api_load
from benchmarks.corpus import corpus_search_time
from benchmarks.durability import job_growth, kill_recovery
from benchmarks.engine import critical_path_time, first_report_time, task_overhead
from benchmarks.page import page_load
from benchmarks.records import bundle_time, fork_cost
from benchmarks.setup.benchmark_figures import MeasuredFigure, figures_as_data, figures_as_table
from benchmarks.tools import hub_overhead
from benchmarks.workers import throughput, worker_memory
from holdfast.configuration.json_logs import configure_logs

Measure = Callable[[argparse.Namespace], Awaitable[list[MeasuredFigure]]]

_BENCHMARKS: Mapping[str, Measure] = {
    "overhead": lambda asked: task_overhead.measure(asked.rounds),
    "critical_path": lambda asked: critical_path_time.measure(asked.rounds),
    "memory": lambda _: worker_memory.measure(),
    "first_report": lambda asked: first_report_time.measure(asked.rounds),
    "recovery": lambda asked: kill_recovery.measure(asked.rounds),
    "growth": lambda _: job_growth.measure(),
    "fork": lambda _: fork_cost.measure(),
    "bundle": lambda asked: bundle_time.measure(asked.rounds),
    "hub": lambda asked: hub_overhead.measure(asked.rounds),
    "api": lambda _: api_load.measure(),
    "page": lambda asked: page_load.measure(look=timedelta(minutes=asked.minutes)),
    "corpus": lambda _: corpus_search_time.measure(),
    "throughput": lambda asked: throughput.measure(asked.jobs, asked.calls, asked.workers),
}


def main() -> None:
    arguments = _arguments()
    # Before any MCP server is made: the library would set up logging of its own.
    configure_logs("ERROR")
    results = {}
    for name in arguments.names or _BENCHMARKS:
        figures = asyncio.run(_run(name, arguments))
        results[name] = figures_as_data(figures)
        if not arguments.json:
            print(f"\n{name}\n{figures_as_table(figures)}", flush=True)
    if arguments.json:
        print(json.dumps(results, indent=1))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *_BENCHMARKS])
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each arm (5)")
    parser.add_argument(
        "--minutes", type=float, default=1, help="how long `page` looks at a running job (1)"
    )
    sizes: tuple[tuple[str, type, Sequence[float], str], ...] = (
        ("--jobs", int, throughput.JOBS, "numbers of jobs of 20 tasks"),
        ("--calls", float, throughput.CALLS_S, "seconds of a call"),
        ("--workers", int, throughput.WORKERS, "numbers of workers"),
    )
    for name, kind, default, what in sizes:
        text = f"`throughput`: {what} ({' '.join(map(str, default))})"
        parser.add_argument(name, type=kind, nargs="+", default=default, help=text)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    return parser.parse_args()


async def _run(name: str, asked: argparse.Namespace) -> list[MeasuredFigure]:
    return await _BENCHMARKS[name](asked)


if __name__ == "__main__":
    main()
