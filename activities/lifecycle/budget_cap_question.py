"""Ask what to do when a job reaches its budget cap, and apply the answer."""

from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.jobs.job_state import AnswerReceipt
from holdfast.models.questions.user_questions import OpenQuestion
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.budget.budget_question import (
    BUDGET_CHOICES,
    REPORT,
    budget_decision,
    budget_question,
)
from holdfast.planning.budget.spend_totals import spend_breakdown
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.jobs import job_control_rows, job_rows
from holdfast.storage.ledger.spending_queries import bills_of
from holdfast.storage.questions.budget_question_rows import ask_budget_question


async def open_budget_question(tx: JobTransaction, key: str) -> OpenQuestion:
    """Ask how a job that reached its budget cap goes on, and show its spending by task.

    `key` is the key of the pause. A question that is open already is not asked again.
    """
    strategy = await job_rows.strategy_of(tx)
    spent = spend_breakdown(await bills_of(tx.connection, tx.job_id))
    text = budget_question(strategy, spent)
    return await ask_budget_question(tx, key, text, BUDGET_CHOICES, REPORT)


async def settle_budget(tx: JobTransaction, words: str, by: str) -> AnswerReceipt:
    """Apply an answer to the budget question in the transaction that records the answer.

    The job goes on in every case: with a higher cap, to its report, or to its end. The workflow
    must resume and read the job's settings again.

    Raises:
        BadInput: the words decide nothing; nothing was written.
    """
    decision = budget_decision(words, await job_rows.strategy_of(tx))
    if decision.strategy is not None:
        await job_control_rows.change_strategy(tx, decision.strategy)
    ending = decision.ending
    # A running job with a stop reason: a new run sees by it that only the report is left.
    reason = (
        {} if ending is None or not decision.reports_first else {"stop_reason": ending.reason.value}
    )
    message = "" if ending is None else ending.message
    await tx.set(status=JobStatus.RUNNING.value, message=message, **reason)
    tx.event(EventKind.JOB_RESUMED, by=by, budget=words.split()[0].lower())
    return AnswerReceipt(ending=ending, reports_first=decision.reports_first)
