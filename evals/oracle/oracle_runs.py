"""Run presets over gold programs with services of their own, the oracle as the model, and real
tools."""

import asyncio
import json
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from holdfast.evals.measures.evaluation_engine import running_worker
from holdfast.evals.oracle.gold_programs import GoldProgram, fanout_programs, kopl_programs
from holdfast.evals.oracle.oracle_endpoint import serve_oracle
from holdfast.evals.oracle.oracle_roles import Oracle
from holdfast.evals.presets.preset_comparison import ComparisonRunner, PresetComparison, preset_arms
from holdfast.evals.presets.run_records import QuestionRun, RunRecords
from holdfast.services.servers.temporary_services import temporary_services
from holdfast.settings import Endpoints

_ROOT = Path(__file__).parents[2]
_MODEL = "oracle"
_KOPL = {
    "kopl-lab": ("lab_questions", "lab_kb"),
    "kopl-small": ("questions_small", "kb"),
    "kopl-empty": ("questions_valid_empty", "kb"),
}
ORACLE_TASKS = (*_KOPL, "fanoutqa")
"""The gold programs that there are."""


@dataclass(frozen=True)
class OracleTask:
    """Gold programs, and the MCP server that answers their calls."""

    golds: Sequence[GoldProgram]
    server: str
    module: str
    file: Path


@dataclass(frozen=True)
class OracleRunOptions:
    """Under which presets, with which settings in all of them, and where lines are kept."""

    presets: Sequence[str]
    out: Path
    slots: int
    """Jobs in flight."""
    changes: Mapping[str, JsonValue] = field(default_factory=dict)


def load_oracle_task(name: str, data: Path) -> OracleTask:
    """The gold programs of that name.

    Raises:
        FileNotFoundError: the data are not there.
    """
    if name == "fanoutqa":
        facts = data / "fanoutqa/oracle_facts.jsonl"
        golds = fanout_programs(data / "fanoutqa/dev310.jsonl", facts)
        return OracleTask(golds, "facts", "holdfast.evals.oracle.fact_lookup_server", facts)
    questions, base = (data / "kopl_mini" / each for each in _KOPL[name])
    base = base.with_suffix(".json")
    golds = kopl_programs(questions.with_suffix(".jsonl"), base)
    return OracleTask(golds, "kopl", "holdfast.evals.kopl.kopl_server", base)


def run_oracle(task: OracleTask, wanted: OracleRunOptions) -> list[QuestionRun]:
    """A line for each question under each preset.

    Raises:
        NotFound: there is no such preset.
        BadInput: what is kept was run under other conditions.
    """
    with temporary_services() as services, serve_oracle(Oracle.of(task.golds)) as address:
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
    task: OracleTask, wanted: OracleRunOptions, home: Path, endpoints: Endpoints, address: str
) -> list[QuestionRun]:
    this = asyncio.current_task()
    assert this is not None, "asyncio.run makes one"
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    command = json.dumps([sys.executable, "-m", task.module, str(task.file.resolve())])
    servers = f'[servers.{task.server}]\ncommand = {command}\ncwd = "{_ROOT}"\n'
    arms = preset_arms(wanted.presets, _MODEL, "", wanted.changes)
    comparison = PresetComparison([each.asked for each in task.golds], arms, wanted.slots)
    records = RunRecords.open(wanted.out / "runs.jsonl")
    async with running_worker(home, endpoints, servers=servers, model_url=address) as holdfast:
        say = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
        return await ComparisonRunner(holdfast, records, say=say).compare(comparison)
