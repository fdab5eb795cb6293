"""At a job's cap: the question that is asked, and what its answer changes."""

from models.jobs import JobStatus
from models.state import AnswerReceipt
from planning.budget import CHOICES, REPORT, budget_decision, budget_question
from planning.spending import breakdown
from storage import control, jobs
from storage.budget import ask_about_budget
from storage.database import JobWrite
from storage.spending import bills_of


async def open_budget_question(write: JobWrite, key: str) -> int:
    """Ask what is to become of a job that met its cap, with what it spent by task.

    `key` is that of the pause; where the question is open already, it is not asked again.
    """
    strategy = await jobs.strategy_of(write)
    spent = breakdown(await bills_of(write.connection, write.job_id))
    text = budget_question(write.job_id, strategy, spent)
    return await ask_about_budget(write, key, text, CHOICES, REPORT)


async def settle_budget(write: JobWrite, words: str, by: str) -> AnswerReceipt:
    """Carry out an answer to that question in the transaction that records it.

    The job goes on in every case: with a higher cap, to its report, or to its end. Whoever calls
    this from the workflow has it resume and read its settings anew.

    Raises:
        BadInput: the words decide nothing; nothing was written.
    """
    decision = budget_decision(words, await jobs.strategy_of(write))
    if decision.strategy is not None:
        await control.change_settings(write, decision.strategy)
    ending = decision.ends
    # A reason to stop on a job that runs is how a new run knows that only the report is left.
    reason = {} if ending is None or not decision.reports else {"stop_reason": ending.reason.value}
    message = "" if ending is None else ending.message
    await write.set(status=JobStatus.RUNNING.value, message=message, **reason)
    write.event("job.resumed", by=by, budget=words.split()[0].lower())
    return AnswerReceipt(ends=ending, reports=decision.reports)
