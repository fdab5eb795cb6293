"""Measure offline, without the engine, how well the built-in extractive model cites.

    python -m holdfast.evals.extractive_offline [FILE] [--from 0 --to 200] [--show N]

Each question runs as in the engine: plan, search, extract, check the KPIs, replan, reason. Next to
it stands plain keyword search that cites the same number of passages per question. A passage is
cited when an evidence quote comes from it. HotpotQA's 300 questions take half a minute.
"""

import argparse
import asyncio
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from holdfast.configuration.calibration_settings import read_calibrations
from holdfast.evals.command_exit import command_exit
from holdfast.evals.measures.calibration_fit import calibration_lines, fit_route_table
from holdfast.evals.measures.question_files import DEFAULT_FILE, EvaluationQuestion, read_questions
from holdfast.evals.offline.offline_job import OfflineJob
from holdfast.evals.offline.offline_table import offline_table, rated_answers
from holdfast.models.evidence.answer_routes import RouteTable
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL


async def run_question(question: EvaluationQuestion, *, fixed_hits: bool = False) -> OfflineJob:
    """The question's finished job."""
    job = OfflineJob(question, fixed_hits)
    await job.run()
    return job


async def run_questions(
    questions: Iterable[EvaluationQuestion], *, fixed_hits: bool = False
) -> list[OfflineJob]:
    """The finished jobs, one after the other."""
    return [await run_question(question, fixed_hits=fixed_hits) for question in questions]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; the process's exit code."""
    chosen = _arguments(arguments)
    return command_exit(lambda: _measure(chosen))


def _measure(chosen: argparse.Namespace) -> int:
    questions = read_questions(chosen.file)[chosen.first : chosen.last]
    table = _table(chosen)
    jobs = asyncio.run(run_questions(questions, fixed_hits=chosen.fixed_hits))
    for job in jobs[: chosen.show]:
        print(_trace(job))
    rated = rated_answers(jobs, table)
    print("\n".join(offline_table(jobs, table)))
    if chosen.calibrate:
        print("\n".join(calibration_lines(EXTRACTIVE_MODEL, fit_route_table(rated), rated)))
    return 0


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m holdfast.evals.extractive_offline",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", type=Path, nargs="?", default=DEFAULT_FILE, help="questions; HotpotQA's if left out"
    )
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--to", dest="last", type=int, default=200)
    parser.add_argument("--show", type=int, default=0, help="print the course of so many questions")
    parser.add_argument(
        "--calibrate", action="store_true", help="print the calibration fitted on these questions"
    )
    parser.add_argument(
        "--calibration", type=Path, help="a file with [calibration.extractive], fitted elsewhere"
    )
    parser.add_argument(
        "--uncalibrated", action="store_true", help="the confidences as they were before any table"
    )
    parser.add_argument("--fixed-hits", action="store_true", help="the search ignores `limit`")
    return parser.parse_args(arguments)


def _table(chosen: argparse.Namespace) -> RouteTable:
    """The calibration of the answers' confidences."""
    if chosen.uncalibrated:
        return {}
    return read_calibrations(chosen.calibration)[EXTRACTIVE_MODEL]


def _trace(job: OfflineJob) -> str:
    question = job.question
    cited = [question.paragraphs[at].address for at in job.passages_cited]
    return "\n".join(
        (
            f"\n{question.text}",
            f"  RIGHT {question.answers[0]} {sorted(question.gold)}",
            *job.log,
            f"  CITED {cited} ANSWER {job.answer[:100]}",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
