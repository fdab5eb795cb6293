"""Ask a person to approve a plan, check an edited plan, and return the receipt of a refusal."""

import asyncio

from holdfast.activities.runtime.activity_services import Services
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import JobRequest, JobStatus, StopReason
from holdfast.models.jobs.job_state import AnswerReceipt, EndJob
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.questions.user_questions import OpenQuestion, QuestionKind
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.wire import stored_keys
from holdfast.planning.context.replan_scope import rules_for_plan
from holdfast.planning.plans.plan_edits import edit_change, parse_plan
from holdfast.planning.plans.plan_validation import plan_faults
from holdfast.planning.plans.tool_fitting import fit_to_tools
from holdfast.planning.questions.answer_choices import CHOICES_BY_KIND
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.questions.question_rows import NewQuestion, open_question

MAX_LINE = 200
"""Characters of a person's words in a receipt."""


def needs_approval(strategy: Strategy) -> bool:
    """True if a person must approve the plan; a job that only plans needs no approval."""
    return strategy.review and not strategy.plan_only


async def ask_approval(tx: JobTransaction, revision: int, tasks: int) -> tuple[OpenQuestion, ...]:
    """Ask a person to approve the plan; without a deadline, because silence is no approval."""
    kind = QuestionKind.APPROVAL
    new = NewQuestion(
        key=stored_keys.approval_question(revision),
        kind=kind,
        text=f"Run this plan ({tasks} {'task' if tasks == 1 else 'tasks'})?",
        choices=tuple(each.value for each in CHOICES_BY_KIND[kind]),
    )
    question = await open_question(tx, new)
    return () if question is None else (question,)


def plan_refusal_receipt(words: str) -> AnswerReceipt:
    """The end of a job whose plan is not edited."""
    why = shorten_text(" ".join(words.split()), MAX_LINE) or "the plan was refused"
    reason = StopReason.PLAN_REFUSED
    return AnswerReceipt(ending=EndJob(status=JobStatus.CANCELLED, reason=reason, message=why))


async def check_plan_edit(
    services: Services, request: JobRequest, stored: Plan, text: str, by: str
) -> PlanChange:
    """The change that turns the stored plan into the plan in `text`.

    Raises:
        BadInput: the text is no plan, or the plan cannot run; each fault is named with its task.
    """
    opening = next((task for task in stored.live if task.is_opening), None)
    signatures = await services.hub.for_job(request).signatures()
    superseded = (task.id for task in stored.tasks if task.status is TaskStatus.SUPERSEDED)
    rules = rules_for_plan(
        request,
        signatures,
        services.agents.usable_agents(signatures),
        frozenset(superseded),
        opening,
    )
    # Reading a long text takes seconds, and the event loop must go on.
    edited = fit_to_tools(await asyncio.to_thread(parse_plan, text), rules.tools, rules.agents)
    faults = plan_faults(edited, rules)
    if faults:
        raise BadInput("; ".join(faults))
    return edit_change(stored, edited, f"edited by {by}" if by else "edited")
