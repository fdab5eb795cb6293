"""Store what people do to a job: pause, resume, reopen, restart, rerun tasks, add guidance."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.bundles.bundle_manifest import JobImport, Redaction
from holdfast.models.errors import BadInput
from holdfast.models.evidence.evidence import EvidenceStatus
from holdfast.models.jobs.activity_orders import ControlOrder
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.questions.control_requests import ControlKind
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.wire import stored_keys
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.evidence_tables import entities, evidence
from holdfast.storage.core.tables.job_tables import jobs, receipts
from holdfast.storage.core.tables.plan_tables import attempt_results, tasks
from holdfast.storage.core.tables.question_tables import guidance
from holdfast.storage.core.tables.verification_tables import stop_log, verifications
from holdfast.storage.jobs.job_rows import config_hash
from holdfast.storage.ledger.unclear_tool_calls import release_unclear_calls
from holdfast.storage.plans.task_resets import label_steps_with_attempt
from holdfast.storage.questions.budget_question_rows import withdraw_budget_questions
from holdfast.storage.questions.question_rows import reopen_questions

CALL_AGAIN_NOTE = "call_again"
"""Key in a task's notes: a person wants its calls sent again in spite of recorded answers."""

_FOR_A_NEW_RUN = {
    "status": JobStatus.QUEUED.value,
    "epoch": jobs.c.epoch + 1,
    "run_id": None,
}
_REOPENED = {**_FOR_A_NEW_RUN, "finished_at": None, "attempt": jobs.c.attempt + 1}
_STATUS = {ControlKind.PAUSED: JobStatus.PAUSED, ControlKind.RESUMED: JobStatus.RUNNING}


async def store_control(write: JobTransaction, order: ControlOrder) -> None:
    """Store a control of a running job, with its author and its effect on the job's row.

    Does nothing if the job has ended meanwhile, for example by a cancellation.
    """
    if JobStatus(write.held.status).is_final:
        return
    if order.kind is ControlKind.RESUMED:
        await withdraw_budget_questions(write)
    if order.kind in _STATUS:
        await write.set(status=_STATUS[order.kind].value, message=order.message)
    if order.strategy is not None:
        await change_strategy(write, order.strategy)
    await _reset_to_pending(write, order.reset_tasks)
    facts: dict[str, Any] = {"by": order.by}
    if order.message:
        facts["message"] = order.message[:500]
    if order.guidance is not None:
        await accept_guidance(write, order.guidance)
        facts["guidance"] = order.guidance
    write.event(order.kind.event_kind, **facts)


async def change_strategy(write: JobTransaction, strategy: Strategy) -> None:
    """Change the job's settings; its next workflow run uses them."""
    await write.set(**_strategy_values(write, strategy))


def _strategy_values(write: JobTransaction, strategy: Strategy) -> dict[str, Any]:
    content = strategy.model_dump(mode="json")
    return {
        "strategy": content,
        "config_hash": config_hash(write.held.preset, write.held.model, content),
    }


async def _reset_to_pending(write: JobTransaction, names: tuple[str, ...]) -> None:
    """Make a task pending again whose call the endpoint refused for now."""
    if names:
        await write.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == write.job_id, tasks.c.id.in_(names))
            .where(tasks.c.status == TaskStatus.RUNNING.value)
            .values(status=TaskStatus.PENDING.value)
        )


async def record_rerun(
    write: JobTransaction, named: Sequence[str], rerun: tuple[str, ...], by: str
) -> None:
    """Make the named tasks and their downstream tasks run again, and log who asked.

    Calls of the named tasks whose outcome is unclear are sent again as well.
    """
    await release_unclear_calls(write, named)
    await rerun_tasks(write, rerun)
    write.event(EventKind.JOB_RETRIED, by=by, tasks=list(named), rerun=list(rerun))


async def rerun_tasks(write: JobTransaction, names: tuple[str, ...]) -> None:
    """Make these tasks pending for another attempt, and delete their entities.

    Earlier results stay in their receipts and in the log; their evidence is superseded.
    """
    mine = tasks.c.job_id == write.job_id
    is_final = tasks.c.id.in_(names) & tasks.c.expects.contains([{"name": "final_answer"}])
    answered = select(func.count()).where(mine, is_final)
    of_these = entities.c.task_id.in_(names)
    await write.connection.execute(
        delete(entities).where(entities.c.job_id == write.job_id, of_these)
    )
    await label_steps_with_attempt(write, names)
    steps = select(tasks.c.id).where(mine, tasks.c.parent.in_(names))
    of_these_or_steps = evidence.c.task_id.in_(names) | evidence.c.task_id.in_(steps)
    await write.connection.execute(
        update(evidence)
        .where(evidence.c.job_id == write.job_id, of_these_or_steps)
        .where(evidence.c.status == EvidenceStatus.ACTIVE.value)
        .values(status=EvidenceStatus.SUPERSEDED.value)
    )
    await write.connection.execute(
        update(tasks)
        .where(mine, tasks.c.parent.in_(names))
        .values(status=TaskStatus.SUPERSEDED.value)
    )
    if await write.connection.scalar(answered):
        await write.set(answer=None)
    await _delete_verification_rounds(write)
    of_tasks = attempt_results.c.task_id.in_(names)
    await write.connection.execute(
        delete(attempt_results).where(attempt_results.c.job_id == write.job_id, of_tasks)
    )
    fresh = {
        "status": TaskStatus.PENDING.value,
        "attempt": tasks.c.attempt + 1,
        "confidence": None,
        "failure": None,
        "trace": None,
        "notes": {CALL_AGAIN_NOTE: True},
        "contradicts_plan": False,
        "started_at": None,
        "finished_at": None,
        "worked_s": 0.0,
    }
    await write.connection.execute(update(tasks).where(mine, tasks.c.id.in_(names)).values(fresh))


async def _delete_verification_rounds(write: JobTransaction) -> None:
    """Delete the verification rounds, so that the results are verified again.

    The verdicts stay in the log, and the verifier's answers in the call ledger.
    """
    for table in (stop_log, verifications):
        await write.connection.execute(delete(table).where(table.c.job_id == write.job_id))
    rounds = (stored_keys.VERIFICATION_RECEIPTS, stored_keys.GAP_FILLING_RECEIPTS)
    is_round = or_(*(receipts.c.key.startswith(prefix) for prefix in rounds))
    await write.connection.execute(
        delete(receipts).where(receipts.c.job_id == write.job_id, is_round)
    )


async def _delete_report_receipt(write: JobTransaction) -> None:
    """Delete the receipt of the report, so that a new report is written; the old one stays."""
    await write.connection.execute(
        delete(receipts).where(
            receipts.c.job_id == write.job_id, receipts.c.key == stored_keys.REPORT_RECEIPT
        )
    )


async def reopen_job(write: JobTransaction, *, strategy: Strategy | None = None) -> None:
    """Make an ended or abandoned job wait for a new workflow run.

    The job keeps all results. Its epoch grows at once, so an older run cannot write any more.

    Raises:
        BadInput: the job's answers were pruned.
    """
    await check_has_answers(write.connection, write.job_id)
    settings = {} if strategy is None else _strategy_values(write, strategy)
    await withdraw_budget_questions(write)
    await write.set(**_REOPENED, stop_reason=None, message="", **settings)
    await write.connection.execute(
        update(tasks)
        .where(tasks.c.job_id == write.job_id, tasks.c.status == TaskStatus.CANCELLED.value)
        .values(status=TaskStatus.PENDING.value)
    )
    await _delete_verification_rounds(write)
    await reopen_questions(write)
    await _delete_report_receipt(write)


async def reopen_job_for_report(write: JobTransaction) -> None:
    """Make an ended job wait for a run that only writes a report and ends the job as before.

    The run knows this from the job's stop reason, which is kept.

    Raises:
        BadInput: the job's answers were pruned.
    """
    await check_has_answers(write.connection, write.job_id)
    await write.set(**_REOPENED)
    await _delete_report_receipt(write)


async def check_has_answers(connection: AsyncConnection, job_id: str) -> None:
    """Refuse a job whose recorded answers cannot be used: its calls would be paid for again.

    Raises:
        BadInput: the answers were pruned, or the job's bundle was exported without them or without
            the question, without which no request is the same.
    """
    query = select(jobs.c.responses_pruned_at, jobs.c.imported).where(jobs.c.id == job_id)
    pruned_at, imported = (await connection.execute(query)).one()
    left_out = JobImport.model_validate(imported).redacted if imported else ()
    if pruned_at:
        why = f"was pruned on {pruned_at:%Y-%m-%d}"
    elif {Redaction.PROMPTS, Redaction.SOURCES} & set(left_out):
        why = "was left out of the bundle that it came from"
    elif Redaction.QUESTIONS in left_out:
        raise BadInput(
            f"the question of job {job_id} was left out of the bundle that it came from, so the "
            "job can neither continue nor be forked; ask for a bundle that has the question"
        )
    else:
        return
    raise BadInput(
        f"what models and tools answered to job {job_id} {why}, so the job can neither continue "
        "nor be forked; submit its question again"
    )


async def release_from_lost_run(write: JobTransaction) -> None:
    """Release a job from a lost workflow run, so that the next run continues it.

    A paused job stays paused, and keeps the question about its budget.
    """
    is_paused = write.held.status == JobStatus.PAUSED
    status = JobStatus.PAUSED if is_paused else JobStatus.QUEUED
    await write.set(**_FOR_A_NEW_RUN | {"status": status.value})


async def resume_from_lost_run(write: JobTransaction) -> None:
    """Release a job from a lost workflow run, and resume the job if it is paused."""
    await withdraw_budget_questions(write)
    await write.set(**_FOR_A_NEW_RUN)


async def propose_guidance(db: Database, job_id: str, words: str, by: str) -> int:
    """Store guidance that takes effect only when it is accepted; return its number."""
    row = {"job_id": job_id, "text": words, "added_by": by}
    statement = insert(guidance).values(row).returning(guidance.c.id)
    async with db.writing() as connection:
        return int((await connection.execute(statement)).scalar_one())


async def accept_guidance(write: JobTransaction, number: int) -> None:
    """Make the guidance visible to every later planning."""
    await write.connection.execute(
        update(guidance)
        .where(guidance.c.job_id == write.job_id, guidance.c.id == number)
        .values(accepted_at=func.now())
    )


async def withdraw_guidance(db: Database, number: int) -> None:
    """Remove refused guidance."""
    async with db.writing() as connection:
        await connection.execute(
            delete(guidance).where(guidance.c.id == number, guidance.c.accepted_at.is_(None))
        )


async def guidance_of(db: Database, job_id: str) -> tuple[str, ...]:
    """Return the accepted guidance of the job, oldest first."""
    query = (
        select(guidance.c.text)
        .where(guidance.c.job_id == job_id, guidance.c.accepted_at.is_not(None))
        .order_by(guidance.c.id)
    )
    async with db.reading() as connection:
        return tuple((await connection.execute(query)).scalars())
