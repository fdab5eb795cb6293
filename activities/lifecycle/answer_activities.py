"""Record an answer to a question of the job, together with the effect of the answer."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.lifecycle.budget_cap_question import settle_budget
from holdfast.activities.plans.plan_approval import MAX_LINE, check_plan_edit, plan_refusal_receipt
from holdfast.activities.runtime.activity_frame import (
    ReceiptScope,
    Record,
    Recorded,
    record_once,
    work_once,
)
from holdfast.activities.runtime.activity_services import Services
from holdfast.models.budget.cost_estimates import PlanEstimate
from holdfast.models.errors import BadInput
from holdfast.models.jobs.activity_orders import AnswerOrder
from holdfast.models.jobs.job_state import AnswerReceipt
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.questions.user_questions import AnswerOrigin, QuestionKind, UserQuestion
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.plans.plan_edits import discard_change
from holdfast.planning.questions.answer_choices import (
    NO_ANSWER_TEXT,
    AnswerChoice,
    answer_text,
    check_answer,
    parse_answer,
)
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.jobs.job_estimates import estimate_job, store_estimate
from holdfast.storage.jobs.outage_rows import note_services_present
from holdfast.storage.plans import plan_change_rows, task_queries
from holdfast.storage.questions import question_rows


@dataclass(frozen=True)
class CheckedAnswer:
    """A checked answer to record, with the edited plan if there is one."""

    choice: str
    words: str
    edit: PlanChange | None = None
    estimate: PlanEstimate | None = None
    """Of the edited plan: what was estimated of the plan before the edit does not hold for it."""


@dataclass(frozen=True)
class AnswerActivities:
    """The activity that records answers; each is recorded in one transaction with its effect."""

    services: Services

    @implements(interfaces.record_answer)
    async def record_answer(self, order: AnswerOrder) -> AnswerReceipt:
        db = self.services.db
        try:
            work = partial(self._work, order)
            return await work_once(db, order, order.key, AnswerReceipt, work)
        except BadInput as error:
            refuse = partial(_record_refusal, order, str(error))
            return await record_once(db, order, order.key, AnswerReceipt, refuse)

    async def _work(self, order: AnswerOrder) -> Record[AnswerReceipt]:
        """Check the answer, and return the function that records it.

        Raises:
            BadInput: the answer does not fit the question, or the edited plan cannot run.
        """
        if order.by_default:
            # After an outage this may be the first to know, and people get the lost time back.
            await note_services_present(self.services.db)
        question = await question_rows.load_question(self.services.db, order.job_id, order.question)
        if not question.is_open:
            return _record_nothing
        if order.deadline and question.deadline and question.deadline > order.deadline:
            return partial(_keep_open, question.deadline)
        answer = await self._checked_answer(order, question)
        return partial(self._record, order, question, answer)

    async def _record(
        self, order: AnswerOrder, question: UserQuestion, answer: CheckedAnswer, tx: JobTransaction
    ) -> Recorded[AnswerReceipt]:
        """Record the answer and its effect.

        Raises:
            BadInput: the answer to a budget question decides nothing.
        """
        origin = AnswerOrigin.DEFAULT if order.by_default else AnswerOrigin.USER
        text = answer_text(answer.choice, answer.words)
        await question_rows.answer_question(tx, question, text, origin, order.by)
        await question_rows.delete_guidance(tx, order.words)
        receipt = await self._apply_answer(tx, order, question, answer)
        if receipt.ending is not None:
            # A new run of the job sees by its stop reason that the job is about to end.
            ending = receipt.ending
            await tx.set(stop_reason=ending.reason.value, message=ending.message)
        return Recorded(receipt)

    async def _checked_answer(self, order: AnswerOrder, question: UserQuestion) -> CheckedAnswer:
        """Return the checked answer.

        Raises:
            BadInput: the answer does not fit the question, or the edited plan cannot run.
        """
        if order.by_default:
            default = question.default or NO_ANSWER_TEXT
            choice, words = parse_answer(question.kind, default)
        else:
            choice = order.choice
            words = await question_rows.proposed_guidance(
                self.services.db, order.job_id, order.words
            )
            check_answer(question.kind, choice, has_words=bool(words))
        if choice == AnswerChoice.EDIT:
            return await self._edited(order, words)
        return CheckedAnswer(choice, words)

    async def _edited(self, order: AnswerOrder, words: str) -> CheckedAnswer:
        """Return the answer with the edit and the estimate of the edited plan.

        Raises:
            BadInput: the edited plan cannot run.
        """
        db, prices = self.services.db, self.services.models.prices
        request = await self.services.requests.of(order)
        stored = await task_queries.load_plan(db, order.job_id)
        edit = await check_plan_edit(self.services, request, stored, words, order.by)
        plan = edit.apply_to(stored)
        estimate = await estimate_job(db, order.job_id, request, plan, prices)
        return CheckedAnswer(AnswerChoice.EDIT, words, edit, estimate)

    async def _apply_answer(
        self,
        tx: JobTransaction,
        order: AnswerOrder,
        question: UserQuestion,
        answer: CheckedAnswer,
    ) -> AnswerReceipt:
        match question.kind:
            case QuestionKind.APPROVAL:
                return await self._approved(tx, order, answer)
            case QuestionKind.BUDGET:
                return await _settle_budget_answer(tx, order, answer)
        if question.kind is QuestionKind.ESCALATION and not answer.choice:
            # The next attempt and the gap planner see this text.
            await question_rows.add_accepted_guidance(
                tx, f"{question.task_id}: {answer.words}", order.by
            )
        return AnswerReceipt()

    async def _approved(
        self, tx: JobTransaction, order: AnswerOrder, answer: CheckedAnswer
    ) -> AnswerReceipt:
        match answer.choice:
            case AnswerChoice.REFUSE:
                return plan_refusal_receipt(answer.words)
            case AnswerChoice.EDIT:
                assert answer.edit is not None
                assert answer.estimate is not None
                await store_estimate(tx, answer.estimate)
                plan = await task_queries.load_plan(self.services.db, order.job_id)
                await plan_change_rows.store_change(tx, plan, answer.edit)
                return AnswerReceipt(restarts_run=True)
            case AnswerChoice.REVISE:
                await question_rows.add_accepted_guidance(tx, answer.words, order.by)
                plan = await task_queries.load_plan(self.services.db, order.job_id)
                change = discard_change(plan, "somebody wants another plan")
                await plan_change_rows.store_change(tx, plan, change)
                await plan_change_rows.delete_plan_receipt(tx)
                return AnswerReceipt(restarts_run=True)
        return AnswerReceipt()


async def _record_nothing(_tx: JobTransaction) -> Recorded[AnswerReceipt]:
    """The question was answered before: the job goes on with that answer."""
    return Recorded(AnswerReceipt(), ReceiptScope.NONE)


async def _keep_open(deadline: datetime, _tx: JobTransaction) -> Recorded[AnswerReceipt]:
    return Recorded(AnswerReceipt(new_deadline=deadline), ReceiptScope.NONE)


async def _record_refusal(
    order: AnswerOrder, faults: str, tx: JobTransaction
) -> Recorded[AnswerReceipt]:
    """Record all faults for the person who answered; the question stays open."""
    tx.event(
        EventKind.ANSWER_REFUSED,
        question=order.question,
        by=order.by,
        reason=cut_message(faults, MessageLimit.FAILURE),
    )
    return Recorded(AnswerReceipt(refused=shorten_text(faults, MAX_LINE)))


async def _settle_budget_answer(
    tx: JobTransaction, order: AnswerOrder, answer: CheckedAnswer
) -> AnswerReceipt:
    """Raise the cap, report or stop; a new workflow run reads changed settings."""
    words = f"{answer.choice} {answer.words}".strip()
    receipt = await settle_budget(tx, words, order.by)
    return receipt.model_copy(update={"restarts_run": receipt.ending is None})
