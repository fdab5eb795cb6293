"""Compare runs with the jobs that an earlier commit needed for the same questions."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from holdfast.evals.peers.peer_records import PeerRun
from holdfast.models.frozen_model import Frozen

RECORDED = Path(__file__).parent / "recorded"
EARLIER_JOBS = RECORDED / "b141a55-jobs.json"


class EarlierJob(Frozen):
    """A recorded job of commit b141a55; every reply was written by a strong model."""

    question: str
    """The question's id in its set."""
    about: str
    preset: str
    answer: str
    calls: int
    input_tokens: int
    """Characters / 4 of the messages, without response formats."""


class EarlierCost(NamedTuple):
    """Calls and input tokens of the runs as shares of those of the earlier jobs."""

    questions: int
    calls: float
    input_tokens: float


def earlier_jobs() -> list[EarlierJob]:
    """Return the recorded jobs, one for each question."""
    rows = json.loads(EARLIER_JOBS.read_text(encoding="utf-8"))
    return [EarlierJob.model_validate(each) for each in rows]


def earlier_cost(runs: Sequence[PeerRun], jobs: Sequence[EarlierJob]) -> EarlierCost:
    """Return the shares over the questions that have a run.

    Raises:
        ZeroDivisionError: no job has a run.
    """
    pairs = _pairs(runs, jobs)
    return EarlierCost(
        questions=len(pairs),
        calls=sum(run.usage.calls for run, _ in pairs) / sum(job.calls for _, job in pairs),
        input_tokens=sum(run.usage.input_tokens for run, _ in pairs)
        / sum(job.input_tokens for _, job in pairs),
    )


def earlier_lines(runs: Sequence[PeerRun], jobs: Sequence[EarlierJob]) -> Iterator[str]:
    """Yield the comparison as a table in Markdown: a row for each question, and the sums."""
    yield "| question | then: preset | calls | tokens in | now: calls | tokens in | answer |"
    yield "| --- | --- | --: | --: | --: | --: | --- |"
    pairs = _pairs(runs, jobs)
    for run, job in pairs:
        yield _row(run, job)
    then = sum(job.calls for _, job in pairs), sum(job.input_tokens for _, job in pairs)
    now = sum(run.usage.calls for run, _ in pairs), sum(run.usage.input_tokens for run, _ in pairs)
    yield f"| all | | {then[0]} | {then[1]:,} | {now[0]} | {now[1]:,} | |"


def _row(run: PeerRun, job: EarlierJob) -> str:
    then, now = f"{job.calls} | {job.input_tokens:,}", run.usage
    cells = f"{then} | {now.calls} | {now.input_tokens:,} | {run.verdict}"
    return f"| {job.about} | `{job.preset}` | {cells} |"


def _pairs(runs: Sequence[PeerRun], jobs: Sequence[EarlierJob]) -> list[tuple[PeerRun, EarlierJob]]:
    by_question = {run.question: run for run in runs}
    return [(by_question[job.question], job) for job in jobs if job.question in by_question]
