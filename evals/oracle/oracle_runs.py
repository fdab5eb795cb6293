"""Run presets over gold programs with services of their own, the oracle as the model, and real
tools."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from pydantic import JsonValue

from holdfast.evals.kopl.knowledge_base import KnowledgeBase
from holdfast.evals.measures.evaluation_engine import running_worker
from holdfast.evals.oracle.gold_programs import GoldProgram, fanout_programs, kopl_programs
from holdfast.evals.oracle.oracle_endpoint import RolePlayer, serve_oracle
from holdfast.evals.oracle.oracle_roles import Oracle
from holdfast.evals.presets.preset_comparison import ComparisonRunner, PresetComparison, preset_arms
from holdfast.evals.presets.run_records import QuestionRun, RunRecords
from holdfast.models.errors import BadInput
from holdfast.services.servers.temporary_services import temporary_services
from holdfast.settings import Endpoints

_ROOT = Path(__file__).resolve().parents[2]
DATA_FOLDER = _ROOT.parent / "shared/data"
"""Where gold programs are looked for, if nobody names a folder."""
PLAYED_MODEL = "oracle"
"""The model's name in arms that a player plays."""
_KOPL = {
    "kopl-lab": ("lab_questions", "lab_kb"),
    "kopl-small": ("questions_small", "kb"),
    "kopl-empty": ("questions_valid_empty", "kb"),
}
_FANOUTQA = ("dev310.jsonl", "oracle_facts.jsonl")
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
        BadInput: a file of the data is missing.
    """
    if name == "fanoutqa":
        questions, facts = (data / "fanoutqa" / each for each in _FANOUTQA)
        _check_files(questions, facts)
        golds = fanout_programs(questions, facts)
        return OracleTask(golds, "facts", "holdfast.evals.oracle.fact_lookup_server", facts)
    questions, base = (data / "kopl_mini" / each for each in _KOPL[name])
    questions, base = questions.with_suffix(".jsonl"), base.with_suffix(".json")
    _check_files(questions, base)
    golds = kopl_programs(questions, base)
    return OracleTask(golds, "kopl", "holdfast.evals.kopl.kopl_server", base)


def _check_files(*files: Path) -> None:
    missing = next((file for file in files if not file.is_file()), None)
    if missing is not None:
        raise BadInput(
            f"there is no file {str(missing)!r}; --data takes the folder of the gold programs "
            "(docs/evaluation.md, Oracle runs)"
        )


def run_oracle(task: OracleTask, wanted: OracleRunOptions) -> list[QuestionRun]:
    """A line for each question under each preset.

    Raises:
        NotFound: there is no such preset.
        BadInput: what is kept was run under other conditions.
    """
    arms = preset_arms(wanted.presets, PLAYED_MODEL, "", wanted.changes)
    comparison = PresetComparison([each.asked for each in task.golds], arms, wanted.slots)
    servers = server_table(task.server, task.module, task.file)
    return run_with_player(Oracle.of(task.golds), comparison, servers, wanted.out)


def server_table(
    name: str,
    module: str,
    file: Path,
    vocabulary: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> str:
    """An MCP server as tables of `holdfast.toml`: a module of ours that serves a file.

    `vocabulary` has the values that the server declares for its parameters.
    """
    command = json.dumps([sys.executable, "-m", module, str(file.resolve())])
    lines = [f"[servers.{name}]", f"command = {command}", f'cwd = "{_ROOT}"']
    if vocabulary:
        lines.append(f"[servers.{name}.vocabulary]")
    for parameter, values in vocabulary.items():
        listed = json.dumps(sorted(values), ensure_ascii=False)
        lines.append(f"{json.dumps(parameter)} = {listed}")
    return "\n".join([*lines, ""])


def kopl_vocabulary(file: Path) -> Mapping[str, Sequence[str]]:
    """The names that the KoPL tools know, by parameter: entities, concepts, attributes, relations
    and qualifiers of the knowledge base in the file, as far as it has any."""
    base = KnowledgeBase.read(file)
    known = {
        "Find.name": tuple(base.by_name),
        "concept_name": tuple(base.concept_names),
        "key": tuple(base.keys),
        "relation": tuple(base.relations),
        "qkey": tuple(base.qualifiers),
    }
    return {parameter: names for parameter, names in known.items() if names}


def run_with_player(
    player: RolePlayer, comparison: PresetComparison, servers: str, out: Path
) -> list[QuestionRun]:
    """A line for each question under each arm, with own services and a player as the model.

    The arms name the model `PLAYED_MODEL`; `servers` are the tables of the tools' MCP servers.

    Raises:
        BadInput: what is kept in `out` was run under other conditions.
    """
    with temporary_services() as services, serve_oracle(player) as address:
        endpoints = Endpoints(
            database_url=services.database_url,
            temporal_address=services.temporal_address,
            temporal_namespace="default",
            temporal_ui=None,
            embedded_database=True,
            embedded_temporal=True,
        )
        return asyncio.run(_compared(comparison, out, services.home, endpoints, address, servers))


async def _compared(
    comparison: PresetComparison,
    out: Path,
    home: Path,
    endpoints: Endpoints,
    address: str,
    servers: str,
) -> list[QuestionRun]:
    records = RunRecords.open(out / "runs.jsonl")
    async with running_worker(home, endpoints, servers=servers, model_url=address) as holdfast:
        say = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
        return await ComparisonRunner(holdfast, records, say=say).compare(comparison)
