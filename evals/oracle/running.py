"""Runs presets over gold programs: services of their own, the oracle as the model, real tools."""

import asyncio
import json
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from benchmarks.services import running_services
from evals.comparison import Bench, Comparison, arms_of
from evals.engine import working
from evals.oracle.endpoint import serving
from evals.oracle.gold import Gold, fanout_programs, kopl_programs
from evals.oracle.player import Oracle
from evals.records import Records, Run
from holdfast.settings import Endpoints

_ROOT = Path(__file__).parents[2]
_MODEL = "oracle"
_KOPL = {
    "kopl-lab": ("lab_questions", "lab_kb"),
    "kopl-small": ("questions_small", "kb"),
    "kopl-empty": ("questions_valid_empty", "kb"),
}
TASKS = (*_KOPL, "fanoutqa")
"""The gold programs that there are."""


@dataclass(frozen=True)
class Task:
    """Gold programs, and the MCP server that answers their calls."""

    golds: Sequence[Gold]
    server: str
    module: str
    file: Path


@dataclass(frozen=True)
class Wanted:
    """Under which presets, with which settings in all of them, and where lines are kept."""

    presets: Sequence[str]
    out: Path
    slots: int
    """Jobs in flight."""
    changes: Mapping[str, JsonValue] = field(default_factory=dict)


def task_of(name: str, data: Path) -> Task:
    """The gold programs of that name.

    Raises:
        FileNotFoundError: the data are not there.
    """
    if name == "fanoutqa":
        facts = data / "fanoutqa/oracle_facts.jsonl"
        golds = fanout_programs(data / "fanoutqa/dev310.jsonl", facts)
        return Task(golds, "facts", "evals.lookup", facts)
    questions, base = (data / "kopl_mini" / each for each in _KOPL[name])
    base = base.with_suffix(".json")
    golds = kopl_programs(questions.with_suffix(".jsonl"), base)
    return Task(golds, "kopl", "evals.kopl.server", base)


def run(task: Task, wanted: Wanted) -> list[Run]:
    """A line for each question under each preset.

    Raises:
        NotFound: there is no such preset.
        BadInput: what is kept was run under other conditions.
    """
    with running_services() as services, serving(Oracle.of(task.golds)) as address:
        endpoints = Endpoints(
            database_url=services.database_url,
            temporal_address=services.temporal_address,
            temporal_namespace="default",
            temporal_ui=None,
            embedded_database=True,
            embedded_temporal=True,
        )
        return asyncio.run(_compared(task, wanted, services.home, endpoints, address))


async def _compared(
    task: Task, wanted: Wanted, home: Path, endpoints: Endpoints, address: str
) -> list[Run]:
    this = asyncio.current_task()
    assert this is not None, "asyncio.run makes one"
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    command = json.dumps([sys.executable, "-m", task.module, str(task.file.resolve())])
    servers = f'[servers.{task.server}]\ncommand = {command}\ncwd = "{_ROOT}"\n'
    arms = arms_of(wanted.presets, _MODEL, "", wanted.changes)
    comparison = Comparison([each.asked for each in task.golds], arms, wanted.slots)
    records = Records.open(wanted.out / "runs.jsonl")
    async with working(home, endpoints, servers=servers, model_url=address) as holdfast:
        say = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
        return await Bench(holdfast, records, say=say).compare(comparison)
