"""Run presets with an oracle as the model: what the engine itself costs, and what a failure adds.

    python -m holdfast.evals.oracle kopl-lab|kopl-small|kopl-empty|fanoutqa [--data DIR] [--limit N]
                           [--presets full-horizon,single-step] [--fail-every N] [--out DIR]
    python -m holdfast.evals.oracle composite --k 6 [--slots 3] [--data DIR] [--limit N] [--out DIR]

`--fail-every 1` has a name written wrong in one call of every question. `composite` asks `--k`
questions of kopl-lab as one, without faults and with one in each part, and says what the faults
cost; with `--slots 1` no two of them come at the same time. Starts a PostgreSQL and a Temporal of
its own in a temporary folder; docs/evaluation.md says what came out.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.configuration.json_logs import configure_logs
from holdfast.evals.command_exit import command_exit
from holdfast.evals.oracle import fault_costs
from holdfast.evals.oracle.gold_programs import with_faults
from holdfast.evals.oracle.joined_questions import compose_all, compose_question
from holdfast.evals.oracle.oracle_runs import (
    DATA_FOLDER,
    ORACLE_TASKS,
    OracleRunOptions,
    load_oracle_task,
    run_oracle,
)
from holdfast.evals.presets.comparison_output import (
    comparison_fields,
    comparison_svg,
    comparison_table_lines,
)
from holdfast.evals.presets.comparison_summary import (
    FULL_HORIZON,
    SINGLE_STEP,
    preset_figures,
    token_ratio,
)
from holdfast.evals.presets.run_records import QuestionRun

_COMPOSITE = "composite"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the presets; the process's exit code."""
    chosen = _arguments(arguments)
    configure_logs("WARNING")
    return command_exit(lambda: _run(chosen))


def _run(chosen: argparse.Namespace) -> int:
    with TemporaryDirectory(prefix="holdfast-oracle-") as folder:
        out = chosen.out or Path(folder)
        run = _run_composite if chosen.task == _COMPOSITE else _run_single
        return run(chosen, out)


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m holdfast.evals.oracle",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", choices=(*ORACLE_TASKS, _COMPOSITE))
    parser.add_argument("--data", type=Path, default=DATA_FOLDER)
    parser.add_argument("--presets")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--fail-every", type=int, default=0)
    parser.add_argument("--k", type=int, default=6, help="parts of a composite question")
    parser.add_argument("--slots", type=int, default=3, help="tasks of a composite at once")
    parser.add_argument("--jobs", type=int, default=4, help="jobs in flight")
    parser.add_argument("--out", type=Path, help="keep the lines and the figure there")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _presets(chosen: argparse.Namespace, default: Sequence[str]) -> Sequence[str]:
    return chosen.presets.split(",") if chosen.presets else default


def _run_single(chosen: argparse.Namespace, out: Path) -> int:
    task = load_oracle_task(chosen.task, chosen.data)
    task = replace(task, golds=with_faults(task.golds, chosen.fail_every)[: chosen.limit])
    runs = run_oracle(
        task, OracleRunOptions(_presets(chosen, (FULL_HORIZON, SINGLE_STEP)), out, chosen.jobs)
    )
    found, compared = preset_figures(runs), token_ratio(runs)
    title = f"{chosen.task}, oracle, {len(task.golds)} questions"
    (out / "figures.svg").write_text(comparison_svg(found, title), encoding="utf-8")
    content = comparison_fields(found, compared)
    print(
        json.dumps(content) if chosen.json else "\n".join(comparison_table_lines(found, compared))
    )
    return _exit_code(runs)


def _run_composite(chosen: argparse.Namespace, out: Path) -> int:
    task = load_oracle_task("kopl-lab", chosen.data)
    clean = compose_all(task.golds, chosen.k)[: chosen.limit]
    faulty = [compose_question(with_faults(each.parts, 1)) for each in clean]
    presets = _presets(chosen, fault_costs.PRESETS)
    settings = {**fault_costs.SETTINGS, "slots": chosen.slots}
    without, with_ = (
        run_oracle(
            replace(task, golds=golds), OracleRunOptions(presets, out / name, chosen.jobs, settings)
        )
        for name, golds in (("clean", clean), ("faulty", faulty))
    )
    found = fault_costs.preset_fault_costs(without, with_)
    content = {"economy": [each.model_dump(mode="json") for each in found]}
    print(json.dumps(content) if chosen.json else "\n".join(fault_costs.fault_cost_lines(found)))
    return _exit_code([*without, *with_])


def _exit_code(runs: Iterable[QuestionRun]) -> int:
    """1 where a job did not end rightly, as the oracle always can: its tokens say nothing."""
    wrong = [each for each in runs if not fault_costs.is_right_run(each)]
    for each in wrong:
        print(
            f"{each.preset}: {each.question} ended {each.stop_reason} with {each.answer!r}, not "
            f"{each.right[0]!r}. {each.message}",
            file=sys.stderr,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
