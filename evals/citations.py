"""How well reports cite, beside plain keyword search: the whole engine over HotpotQA or MuSiQue.

    python -m evals.citations [FILE] [--limit N] [--slots-of-jobs 8] [--json]

Starts a PostgreSQL and a Temporal of its own in a temporary folder and a worker in this process.
docs/evaluation.md says what is measured, and what came out.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from benchmarks.services import running_services
from evals.engine import PRESET, Where, Worked, running_lab
from evals.figures import figures
from evals.printing import as_json, lines
from evals.questions import Format, Question, read_questions
from holdfast.logs import configure_logs
from models.errors import BadInput, HoldfastError
from models.strategy import Strategy
from planning.presets import preset, with_settings

DEFAULT_FILE = Path(__file__).parents[2] / "shared/data/hotpotqa/train300.jsonl"
FITTED = 200
"""The built-in model's weights were fitted on so many first questions of the default file."""
_SAY_EVERY = 25

_WHERE_FROM = """\
HotpotQA: http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_distractor_v1.json (CC BY-SA 4.0),
a JSON list, or one object a line, of {"_id", "question", "answer", "type",
"supporting_facts": [[title, sentence], ...], "context": [[title, [sentence, ...]], ...]}.
MuSiQue: musique_ans_v1.0_dev.jsonl (https://github.com/StonyBrookNLP/musique, CC BY 4.0), one
object a line of {"id", "question", "answer", "answer_aliases",
"paragraphs": [{"title", "paragraph_text", "is_supporting"}, ...]}."""


def main(arguments: Sequence[str] | None = None, default: Path = DEFAULT_FILE) -> int:
    """Runs the measure; the process's exit code."""
    chosen = _chosen(arguments)
    try:
        questions, fitted = _questions(chosen, default)
        strategy = with_settings(preset(PRESET).strategy, dict(chosen.changes))
        configure_logs("WARNING")
        worked = _worked(questions, chosen.slots_of_jobs, strategy)
    except HoldfastError as error:
        print(error, file=sys.stderr)
        return 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("stopped", file=sys.stderr)
        return 130
    found = figures(worked, fitted)
    print(as_json(found, worked) if chosen.json else "\n".join(lines(found)))
    return 0


def _chosen(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m evals.citations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, nargs="?", help="questions; HotpotQA's if left out")
    parser.add_argument("--format", choices=get_args(Format), help="seen from the rows if left out")
    parser.add_argument("--limit", type=_count, help="the first so many questions only")
    parser.add_argument("--slots-of-jobs", type=_count, default=8, help="jobs in flight")
    parser.add_argument(
        "--fitted", type=int, help="show the first so many apart: weights were fitted on them"
    )
    parser.add_argument(
        "--set",
        type=_change,
        action="append",
        default=[],
        dest="changes",
        metavar="KEY=VALUE",
        help="change a setting of the preset, as in `holdfast run`",
    )
    parser.add_argument("--json", action="store_true", help="all figures, and a row per job")
    return parser.parse_args(arguments)


def _count(given: str) -> int:
    if not given.isdecimal() or not (count := int(given)):
        raise argparse.ArgumentTypeError("must be a whole number from 1")
    return count


def _change(given: str) -> tuple[str, str]:
    name, sign, value = given.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError("must be KEY=VALUE")
    return name, value


def _questions(chosen: argparse.Namespace, default: Path) -> tuple[tuple[Question, ...], int]:
    path = chosen.file or default
    if not path.is_file():
        missing = f"there is no file {str(path)!r}"
        raise BadInput(missing if chosen.file else f"{missing}: name one\n{_WHERE_FROM}")
    is_default = path.resolve() == default.resolve()
    fitted = chosen.fitted if chosen.fitted is not None else FITTED * is_default
    return read_questions(path, chosen.format)[: chosen.limit], fitted


def _worked(questions: Sequence[Question], slots: int, strategy: Strategy) -> list[Worked]:
    with running_services() as services:
        where = Where(services.home, services.database_url, services.temporal_address)
        return asyncio.run(_work(where, questions, slots, strategy))


async def _work(
    where: Where, questions: Sequence[Question], slots: int, strategy: Strategy
) -> list[Worked]:
    this = asyncio.current_task()
    assert this is not None, "asyncio.run makes one"
    # The services run detached: without this, `kill` would leave them behind.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    async with running_lab(where, strategy) as lab:
        return await lab.work(questions, slots, _say)


def _say(done: int, of: int) -> None:
    if done % _SAY_EVERY == 0 or done == of:
        print(f"{done} of {of} questions", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
