"""Measure how well reports cite sources on HotpotQA or MuSiQue, and how well keyword search does.

    python -m holdfast.evals.citations [FILE] [--held-out] [--limit N] [--slots-of-jobs 8] [--json]

Starts a PostgreSQL and a Temporal of its own in a temporary folder and a worker in this process.
docs/evaluation.md says what is measured, and what came out.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from holdfast.configuration.json_logs import configure_logs
from holdfast.evals.command_exit import command_exit
from holdfast.evals.measures.citation_figures import citation_figures
from holdfast.evals.measures.citation_table import citation_lines, figures_as_json
from holdfast.evals.measures.evaluation_engine import (
    PRESET,
    ComparedQuestion,
    EvaluationServices,
    running_question_lab,
)
from holdfast.evals.measures.question_files import (
    DEFAULT_FILE,
    EvaluationQuestion,
    QuestionFormat,
    read_questions,
)
from holdfast.models.errors import BadInput
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.services.servers.temporary_services import temporary_services

FITTED_QUESTIONS = 200
"""The built-in model's weights were fitted on so many first questions of the default file."""
_SAY_EVERY = 25

_DATA_SOURCES = """\
HotpotQA: http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_distractor_v1.json (CC BY-SA 4.0),
a JSON list, or one object a line, of {"_id", "question", "answer", "type",
"supporting_facts": [[title, sentence], ...], "context": [[title, [sentence, ...]], ...]}.
MuSiQue: musique_ans_v1.0_dev.jsonl (https://github.com/StonyBrookNLP/musique, CC BY 4.0), one
object a line of {"id", "question", "answer", "answer_aliases",
"paragraphs": [{"title", "paragraph_text", "is_supporting"}, ...]}."""


def main(arguments: Sequence[str] | None = None, default: Path = DEFAULT_FILE) -> int:
    """Run the measurement and return the exit code."""
    chosen = parsed_arguments(arguments)
    return command_exit(lambda: _measure(chosen, default))


def _measure(chosen: argparse.Namespace, default: Path) -> int:
    questions, fitted = chosen_questions(chosen, default)
    strategy = with_settings(preset(PRESET).strategy, dict(chosen.changes))
    configure_logs("WARNING")
    worked = _work_questions(questions, chosen.slots_of_jobs, strategy)
    found = citation_figures(worked, fitted)
    print(figures_as_json(found, worked) if chosen.json else "\n".join(citation_lines(found)))
    return 0


def parsed_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command; without `arguments`, those of the process."""
    parser = argparse.ArgumentParser(
        prog="python -m holdfast.evals.citations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, nargs="?", help="questions; HotpotQA's if left out")
    parser.add_argument(
        "--format", choices=get_args(QuestionFormat), help="seen from the rows if left out"
    )
    parser.add_argument("--limit", type=_count, help="the first so many questions only")
    parser.add_argument(
        "--held-out",
        action="store_true",
        help="leave out the questions that weights were fitted on",
    )
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


def chosen_questions(
    chosen: argparse.Namespace, default: Path
) -> tuple[tuple[EvaluationQuestion, ...], int]:
    """Return the questions to ask, and how many of their first ones weights were fitted on."""
    path = chosen.file or default
    if not path.is_file():
        missing = f"there is no file {str(path)!r}"
        raise BadInput(missing if chosen.file else f"{missing}: name one\n{_DATA_SOURCES}")
    is_default = path.resolve() == default.resolve()
    fitted = chosen.fitted if chosen.fitted is not None else FITTED_QUESTIONS * is_default
    questions = read_questions(path, chosen.format)
    if not chosen.held_out:
        return questions[: chosen.limit], fitted
    if not (held_out := questions[fitted:]):
        raise BadInput(f"{path.name!r} has {len(questions)} questions, all of them fitted on")
    return held_out[: chosen.limit], 0


def _work_questions(
    questions: Sequence[EvaluationQuestion], slots: int, strategy: Strategy
) -> list[ComparedQuestion]:
    with temporary_services() as services:
        where = EvaluationServices(services.home, services.database_url, services.temporal_address)
        return asyncio.run(_work(where, questions, slots, strategy))


async def _work(
    where: EvaluationServices,
    questions: Sequence[EvaluationQuestion],
    slots: int,
    strategy: Strategy,
) -> list[ComparedQuestion]:
    async with running_question_lab(where, strategy) as lab:
        return await lab.work(questions, slots, _print_progress)


def _print_progress(done: int, of: int) -> None:
    if done % _SAY_EVERY == 0 or done == of:
        print(f"{done} of {of} questions", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
