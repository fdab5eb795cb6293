"""What people do to jobs, as PostgreSQL keeps it: paused, resumed, reopened, steered."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, insert, or_, select, update

from models.control import Control
from models.jobs import FINAL, JobStatus
from models.orders import ControlOrder
from models.plan import TaskStatus
from models.strategy import Strategy
from models.tables import (
    attempt_results,
    entities,
    evidence,
    guidance,
    jobs,
    receipts,
    stop_checks,
    tasks,
    verifications,
)
from storage.budget import withdraw_budget_questions
from storage.database import Database, JobWrite
from storage.gaps import number_steps
from storage.jobs import config_hash
from storage.questions import ask_again

ANEW = "anew"
"""In a task's notes: a person wants its calls made anew, whatever is recorded of earlier ones."""
REPORT_KEY = "report"
"""The receipt of a delivered report: there is one exactly while the report is that of the plan."""

_FOR_A_NEW_RUN = {
    "status": JobStatus.QUEUED.value, "epoch": jobs.c.epoch + 1, "run_id": None,
}  # fmt: skip
_REOPENED = {**_FOR_A_NEW_RUN, "finished_at": None, "attempt": jobs.c.attempt + 1}
_STATUS = {Control.PAUSED: JobStatus.PAUSED, Control.RESUMED: JobStatus.RUNNING}


async def record(write: JobWrite, order: ControlOrder) -> None:
    """Store what was done to a running job, by whom, and what it means for its row.

    Nothing where the job has ended meanwhile: it was cancelled while it was to be paused.
    """
    if write.held.status in FINAL:
        return
    if order.kind is Control.RESUMED:
        await withdraw_budget_questions(write)
    if order.kind in _STATUS:
        await write.set(status=_STATUS[order.kind].value, message=order.message)
    if order.strategy is not None:
        await change_settings(write, order.strategy)
    await _put_back(write, order.put_back)
    facts: dict[str, Any] = {"by": order.by}
    if order.message:
        facts["message"] = order.message[:500]
    if order.guidance is not None:
        await accept_guidance(write, order.guidance)
        facts["guidance"] = order.guidance
    write.event(f"job.{order.kind.value}", **facts)


async def change_settings(write: JobWrite, strategy: Strategy) -> None:
    """Give the job other settings; its next run works by them."""
    await write.set(**_settings(write, strategy))


def _settings(write: JobWrite, strategy: Strategy) -> dict[str, Any]:
    content = strategy.model_dump(mode="json")
    return {
        "strategy": content,
        "config_hash": config_hash(write.held.preset, write.held.model, content),
    }


async def _put_back(write: JobWrite, names: tuple[str, ...]) -> None:
    """A task whose call the endpoint turned away waits again."""
    if names:
        await write.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == write.job_id, tasks.c.id.in_(names))
            .where(tasks.c.status == TaskStatus.RUNNING.value)
            .values(status=TaskStatus.PENDING.value)
        )


async def retry(write: JobWrite, named: Sequence[str], again: tuple[str, ...], by: str) -> None:
    """Have the tasks that somebody named run again, with what rests on them."""
    await run_again(write, again)
    event = f"job.{Control.RETRIED.value}"
    write.event(event, by=by, tasks=list(named), again=list(again))


async def run_again(write: JobWrite, names: tuple[str, ...]) -> None:
    """Make these tasks wait for another attempt, and forget what they had found.

    What they had found stays in their receipts and the log; their evidence is superseded.
    """
    mine = tasks.c.job_id == write.job_id
    is_final = tasks.c.id.in_(names) & tasks.c.expects.contains([{"name": "final_answer"}])
    answered = select(func.count()).where(mine, is_final)
    of_these = entities.c.task_id.in_(names)
    await write.connection.execute(
        delete(entities).where(entities.c.job_id == write.job_id, of_these)
    )
    await number_steps(write, names)
    steps = select(tasks.c.id).where(mine, tasks.c.parent.in_(names))
    of_these_or_steps = evidence.c.task_id.in_(names) | evidence.c.task_id.in_(steps)
    await write.connection.execute(
        update(evidence)
        .where(evidence.c.job_id == write.job_id, of_these_or_steps)
        .where(evidence.c.status == "active")
        .values(status="superseded")
    )
    await write.connection.execute(
        update(tasks)
        .where(mine, tasks.c.parent.in_(names))
        .values(status=TaskStatus.SUPERSEDED.value)
    )
    if await write.connection.scalar(answered):
        await write.set(answer=None)
    await _forget_rounds(write)
    of_tasks = attempt_results.c.task_id.in_(names)
    await write.connection.execute(
        delete(attempt_results).where(attempt_results.c.job_id == write.job_id, of_tasks)
    )
    fresh = {
        "status": TaskStatus.PENDING.value, "attempt": tasks.c.attempt + 1, "confidence": None,
        "failure": None, "trace": None, "notes": {ANEW: True}, "contradicts_plan": False,
        "started_at": None, "finished_at": None,
    }  # fmt: skip
    await write.connection.execute(update(tasks).where(mine, tasks.c.id.in_(names)).values(fresh))


async def _forget_rounds(write: JobWrite) -> None:
    """Have results verified anew: what they were when verifying stopped is no longer so.

    What the verifier said stays in the log, and its answers in the ledger.
    """
    for table in (stop_checks, verifications):
        await write.connection.execute(delete(table).where(table.c.job_id == write.job_id))
    is_round = or_(receipts.c.key.startswith("verify:"), receipts.c.key.startswith("fill:"))
    await write.connection.execute(
        delete(receipts).where(receipts.c.job_id == write.job_id, is_round)
    )


async def _forget_report(write: JobWrite) -> None:
    """Have the report written anew; the old one can be read until then."""
    await write.connection.execute(
        delete(receipts).where(receipts.c.job_id == write.job_id, receipts.c.key == REPORT_KEY)
    )


async def reopen(write: JobWrite, *, strategy: Strategy | None = None) -> None:
    """Make a job that has ended, or that nobody works, one that waits for a workflow run.

    It keeps all it had. The epoch grows at once, so a run that was cut off cannot write any more.
    """
    settings = {} if strategy is None else _settings(write, strategy)
    await withdraw_budget_questions(write)
    await write.set(**_REOPENED, stop_reason=None, message="", **settings)
    await write.connection.execute(
        update(tasks)
        .where(tasks.c.job_id == write.job_id, tasks.c.status == TaskStatus.CANCELLED.value)
        .values(status=TaskStatus.PENDING.value)
    )
    await _forget_rounds(write)
    await ask_again(write)
    await _forget_report(write)


async def reopen_to_report(write: JobWrite) -> None:
    """Make a job that has ended wait for a run that only reports what it found, and ends as it had.

    That it has a reason to stop already is how the run knows.
    """
    await write.set(**_REOPENED)
    await _forget_report(write)


async def restart(write: JobWrite) -> None:
    """Take a job from a workflow run that is lost; the next run goes on where it stopped."""
    await withdraw_budget_questions(write)
    await write.set(**_FOR_A_NEW_RUN)


async def give_guidance(db: Database, job_id: str, words: str, by: str) -> int:
    """Store guidance that nobody sees until it is accepted; gives its number."""
    row = {"job_id": job_id, "text": words, "given_by": by}
    statement = insert(guidance).values(row).returning(guidance.c.id)
    async with db.writing() as connection:
        return int((await connection.execute(statement)).scalar_one())


async def accept_guidance(write: JobWrite, number: int) -> None:
    """Let every later planning see it."""
    await write.connection.execute(
        update(guidance)
        .where(guidance.c.job_id == write.job_id, guidance.c.id == number)
        .values(accepted_at=func.now())
    )


async def withdraw_guidance(db: Database, number: int) -> None:
    """Remove guidance that was refused."""
    async with db.writing() as connection:
        await connection.execute(
            delete(guidance).where(guidance.c.id == number, guidance.c.accepted_at.is_(None))
        )


async def guidance_of(db: Database, job_id: str) -> tuple[str, ...]:
    """What people told the job's planning, oldest first."""
    query = (
        select(guidance.c.text)
        .where(guidance.c.job_id == job_id, guidance.c.accepted_at.is_not(None))
        .order_by(guidance.c.id)
    )
    async with db.reading() as connection:
        return tuple((await connection.execute(query)).scalars())
