"""Presets with an oracle for a model: what the engine itself costs, and what a failure adds.

    python -m evals.oracle kopl-lab|kopl-small|kopl-empty|fanoutqa [--data DIR] [--limit N]
                           [--presets full-horizon,single-step] [--fail-every N] [--out DIR]

`--fail-every 1` has a name written wrong in one call of every question. Starts a PostgreSQL and a
Temporal of its own in a temporary folder; docs/evaluation.md says what came out.
"""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.services import running_services
from evals.comparison import Bench, Comparison, arms_of
from evals.engine import working
from evals.oracle.endpoint import serving
from evals.oracle.gold import Gold, fanout_programs, kopl_programs, with_faults
from evals.oracle.player import Oracle
from evals.records import Records, Run
from evals.summary import figures, ratio
from evals.tables import lines, svg
from holdfast.logs import configure_logs
from holdfast.settings import Endpoints
from models.errors import HoldfastError

_DATA = Path(__file__).parents[3] / "shared/data"
_ROOT = Path(__file__).parents[2]
_MODEL = "oracle"


class Task(NamedTuple):
    """Gold programs, and the MCP server that answers their calls."""

    golds: list[Gold]
    server: str
    module: str
    file: Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the presets; the process's exit code."""
    chosen = _chosen(arguments)
    configure_logs("WARNING")
    try:
        task = _task(chosen.task, chosen.data)
        task = task._replace(golds=with_faults(task.golds, chosen.fail_every)[: chosen.limit])
        with TemporaryDirectory(prefix="holdfast-oracle-") as folder:
            out = chosen.out or Path(folder)
            runs = _run(task, chosen.presets.split(","), out, chosen.jobs)
            found, compared = figures(runs), ratio(runs)
            title = f"{chosen.task}, oracle, {len(task.golds)} questions"
            (out / "figures.svg").write_text(svg(found, title), encoding="utf-8")
    except (HoldfastError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 2
    content = {
        "figures": [each.model_dump(mode="json") for each in found],
        "ratio": compared.model_dump(mode="json") if compared else None,
    }
    print(json.dumps(content) if chosen.json else "\n".join(lines(found, compared)))
    return 0


def _chosen(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m evals.oracle",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", choices=("kopl-lab", "kopl-small", "kopl-empty", "fanoutqa"))
    parser.add_argument("--data", type=Path, default=_DATA)
    parser.add_argument("--presets", default="full-horizon,single-step")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--fail-every", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=4, help="jobs in flight")
    parser.add_argument("--out", type=Path, help="keep the lines and the figure there")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _task(name: str, data: Path) -> Task:
    if name == "fanoutqa":
        facts = data / "fanoutqa/oracle_facts.jsonl"
        golds = fanout_programs(data / "fanoutqa/dev310.jsonl", facts)
        return Task(golds, "facts", "evals.lookup", facts)
    files = {
        "kopl-lab": ("lab_questions", "lab_kb"),
        "kopl-small": ("questions_small", "kb"),
        "kopl-empty": ("questions_valid_empty", "kb"),
    }
    questions, base = files[name]
    folder = data / "kopl_mini"
    golds = kopl_programs(folder / f"{questions}.jsonl", folder / f"{base}.json")
    return Task(golds, "kopl", "evals.kopl.server", folder / f"{base}.json")


def _run(task: Task, presets: Sequence[str], out: Path, slots: int) -> list[Run]:
    with running_services() as services, serving(Oracle.of(task.golds)) as address:
        endpoints = Endpoints(
            database_url=services.database_url,
            temporal_address=services.temporal_address,
            temporal_namespace="default",
            temporal_ui=None,
            embedded_database=True,
            embedded_temporal=True,
        )
        return asyncio.run(_compared(task, presets, out, slots, services.home, endpoints, address))


async def _compared(
    task: Task,
    presets: Sequence[str],
    out: Path,
    slots: int,
    home: Path,
    endpoints: Endpoints,
    address: str,
) -> list[Run]:
    this = asyncio.current_task()
    assert this is not None, "asyncio.run makes one"
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    command = json.dumps([sys.executable, "-m", task.module, str(task.file.resolve())])
    servers = f'[servers.{task.server}]\ncommand = {command}\ncwd = "{_ROOT}"\n'
    wanted = Comparison(
        [each.asked for each in task.golds], arms_of(presets, _MODEL, "", {}), slots
    )
    records = Records.open(out / "runs.jsonl")
    async with working(home, endpoints, servers=servers, model_url=address) as holdfast:
        say = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
        return await Bench(holdfast, records, say=say).compare(wanted)


if __name__ == "__main__":
    sys.exit(main())
