"""Repeat the comparison of a paper: with an oracle, or with a real model over your questions.

    python -m holdfast.evals.papers kpi-chain|horizon|tdp|vmao [--fault-rate 0.2] [--limit N]
    python -m holdfast.evals.papers kpi-chain --model M --questions FILE [--judge J] [--out FOLDER]

With the oracle a call has a misspelt name with the probability --fault-rate; the tools refuse it.
With --model the questions are run by the endpoint that OPENAI_BASE_URL names, three times each.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.configuration.json_logs import configure_logs
from holdfast.evals.child_command import run_child
from holdfast.evals.command_exit import command_exit
from holdfast.evals.oracle import __main__ as oracle_command
from holdfast.evals.oracle import fault_costs
from holdfast.evals.oracle.joined_questions import compose_all
from holdfast.evals.oracle.oracle_roles import Oracle
from holdfast.evals.oracle.oracle_runs import (
    DATA_FOLDER,
    PLAYED_MODEL,
    kopl_vocabulary,
    load_oracle_task,
    run_with_player,
    server_table,
)
from holdfast.evals.papers.paper_comparisons import (
    PAPERS,
    PaperTable,
    with_fault_rate,
    with_server,
)
from holdfast.evals.presets.comparison_output import comparison_fields, comparison_table_lines
from holdfast.evals.presets.comparison_summary import preset_figures, token_ratio
from holdfast.evals.presets.preset_comparison import PresetComparison, preset_arms
from holdfast.models.errors import BadInput

_TDP = "tdp"
_REPEATS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison; the process's exit code."""
    chosen = _arguments(arguments)
    configure_logs("WARNING")
    return command_exit(lambda: _run(chosen))


def _run(chosen: argparse.Namespace) -> int:
    if chosen.model:
        return _run_real(chosen)
    if chosen.paper == _TDP:
        return oracle_command.main(_composite_arguments(chosen))
    return _run_oracle(chosen, PAPERS[chosen.paper])


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m holdfast.evals.papers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paper", choices=(*PAPERS, _TDP))
    parser.add_argument("--fault-rate", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1, help="of the faults")
    parser.add_argument("--limit", type=int, default=8)
    parser.add_argument(
        "--data", type=Path, default=DATA_FOLDER, help="the folder of gold programs"
    )
    parser.add_argument("--model", help="a real model instead of the oracle")
    parser.add_argument("--questions", type=Path, help="questions for the real model")
    parser.add_argument("--judge")
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _composite_arguments(chosen: argparse.Namespace) -> list[str]:
    given = ["composite", "--data", str(chosen.data), "--limit", str(chosen.limit)]
    given += ["--jobs", str(chosen.jobs)]
    given += ["--out", str(chosen.out)] if chosen.out else []
    return given + ["--json"] * chosen.json


def _run_real(chosen: argparse.Namespace) -> int:
    if chosen.questions is None:
        raise BadInput("--model needs --questions, a file in HotpotQA's or MuSiQue's format")
    table = PAPERS.get(chosen.paper)
    variants = table.variants if table else ()
    presets = table.presets if table else fault_costs.PRESETS
    out = chosen.out or Path("build/papers") / chosen.paper
    command = [sys.executable, "-m", "holdfast", "eval", "--presets", ",".join(presets)]
    command += ["--data", str(chosen.questions), "--model", chosen.model, "--out", str(out)]
    command += ["--limit", str(chosen.limit), "--jobs", str(chosen.jobs)]
    command += ["--repeats", str(_REPEATS)]
    for each in variants:
        changes = ", ".join(f"{name}={json.dumps(value)}" for name, value in each.changes.items())
        command += ["--arm", f"{each.name}: {changes}"]
    command += ["--judge", chosen.judge] if chosen.judge else []
    return run_child([*command, *["--json"] * chosen.json]).returncode


def _run_oracle(chosen: argparse.Namespace, table: PaperTable) -> int:
    task = load_oracle_task(table.task, chosen.data)
    golds = with_fault_rate(task.golds, chosen.fault_rate, chosen.seed)
    if table.parts > 1:
        golds = tuple(compose_all(golds, table.parts))
    golds = golds[: chosen.limit]
    if table.server:
        task, golds = replace(task, server=table.server), with_server(golds, table.server)
    known = kopl_vocabulary(task.file) if table.declares_names else {}
    arms = preset_arms(table.presets, PLAYED_MODEL, "", table.settings, table.variants)
    comparison = PresetComparison([each.asked for each in golds], arms, chosen.jobs)
    with TemporaryDirectory(prefix="holdfast-papers-") as folder:
        runs = run_with_player(
            Oracle.of(golds),
            comparison,
            server_table(task.server, task.module, task.file, known),
            chosen.out or Path(folder),
        )
    found, ratio = preset_figures(runs), token_ratio(runs)
    if chosen.json:
        content = {
            "paper": chosen.paper,
            "fault_rate": chosen.fault_rate,
            "comparison": comparison.hash,
            **comparison_fields(found, ratio),
        }
        print(json.dumps(content, indent=1, ensure_ascii=False))
    else:
        print(f"{table.title}; {len(golds)} questions, fault rate {chosen.fault_rate:g}")
        print("\n".join(comparison_table_lines(found, ratio)))
        print(f"comparison {comparison.hash}")
    for run in runs:
        if not fault_costs.is_right_run(run):
            print(f"{run.arm}: {run.question} {run.stop_reason}: {run.answer!r}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
