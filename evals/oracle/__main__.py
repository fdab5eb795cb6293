"""Presets with an oracle for a model: what the engine itself costs, and what a failure adds.

    python -m evals.oracle kopl-lab|kopl-small|kopl-empty|fanoutqa [--data DIR] [--limit N]
                           [--presets full-horizon,single-step] [--fail-every N] [--out DIR]
    python -m evals.oracle composite --k 6 [--slots 3] [--data DIR] [--limit N] [--out DIR]

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

from evals.oracle import economy
from evals.oracle.composite import composed, composites
from evals.oracle.gold import with_faults
from evals.oracle.running import TASKS, Wanted, run, task_of
from evals.records import Run
from evals.summary import FULL, STEP, figures, ratio
from evals.tables import lines, svg
from holdfast.logs import configure_logs
from models.errors import HoldfastError

_DATA = Path(__file__).parents[3] / "shared/data"
_COMPOSITE = "composite"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the presets; the process's exit code."""
    chosen = _chosen(arguments)
    configure_logs("WARNING")
    try:
        with TemporaryDirectory(prefix="holdfast-oracle-") as folder:
            out = chosen.out or Path(folder)
            return _composite(chosen, out) if chosen.task == _COMPOSITE else _single(chosen, out)
    except (HoldfastError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 2


def _chosen(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m evals.oracle",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", choices=(*TASKS, _COMPOSITE))
    parser.add_argument("--data", type=Path, default=_DATA)
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


def _single(chosen: argparse.Namespace, out: Path) -> int:
    task = task_of(chosen.task, chosen.data)
    task = replace(task, golds=with_faults(task.golds, chosen.fail_every)[: chosen.limit])
    runs = run(task, Wanted(_presets(chosen, (FULL, STEP)), out, chosen.jobs))
    found, compared = figures(runs), ratio(runs)
    title = f"{chosen.task}, oracle, {len(task.golds)} questions"
    (out / "figures.svg").write_text(svg(found, title), encoding="utf-8")
    content = {
        "figures": [each.model_dump(mode="json") for each in found],
        "ratio": compared.model_dump(mode="json") if compared else None,
    }
    print(json.dumps(content) if chosen.json else "\n".join(lines(found, compared)))
    return _code(runs)


def _composite(chosen: argparse.Namespace, out: Path) -> int:
    task = task_of("kopl-lab", chosen.data)
    clean = composites(task.golds, chosen.k)[: chosen.limit]
    faulty = [composed(with_faults(each.parts, 1)) for each in clean]
    presets = _presets(chosen, economy.PRESETS)
    settings = {**economy.SETTINGS, "slots": chosen.slots}
    without, with_ = (
        run(replace(task, golds=golds), Wanted(presets, out / name, chosen.jobs, settings))
        for name, golds in (("clean", clean), ("faulty", faulty))
    )
    found = economy.economies(without, with_)
    content = {"economy": [each.model_dump(mode="json") for each in found]}
    print(json.dumps(content) if chosen.json else "\n".join(economy.economy_lines(found)))
    return _code([*without, *with_])


def _code(runs: Iterable[Run]) -> int:
    """1 where a job did not end rightly, as the oracle always can: its tokens say nothing."""
    wrong = [each for each in runs if not economy.is_right(each)]
    for each in wrong:
        print(
            f"{each.preset}: {each.question} ended {each.stop_reason} with {each.answer!r}, not "
            f"{each.right[0]!r}. {each.message}",
            file=sys.stderr,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
