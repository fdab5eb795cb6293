"""Recording an answer, with what it means: for the plan, a result, the budget, the whole job."""

from dataclasses import dataclass, field

from activities import interfaces
from activities.approval import checked_edit, refused
from activities.budget import settle_budget
from activities.interfaces import implements
from activities.parts import Requests
from models.errors import BadInput
from models.orders import AnswerOrder
from models.questions import Origin, Question, QuestionKind
from models.state import AnswerReceipt
from models.text import shortened
from planning.agents import Agents, packaged
from planning.answers import NOBODY_KNOWS, Choice, check_answer, read_answer, written
from planning.edited import Edit
from storage import editing, plans, questions, receipts
from storage.database import Database, JobWrite
from tools.hub import Hub

_FIRST_LINE = 200


@dataclass(frozen=True)
class Given:
    """An answer as it is to be recorded; an edited plan has been checked."""

    choice: str
    words: str
    edit: Edit | None = None


@dataclass(frozen=True)
class Answering:
    """The activity that records answers; each is recorded in one transaction with its effect."""

    db: Database
    requests: Requests
    hub: Hub
    agents: Agents = field(default_factory=packaged)

    @implements(interfaces.record_answer)
    async def record_answer(self, order: AnswerOrder) -> AnswerReceipt:
        stored = await receipts.find(self.db, order, order.key, AnswerReceipt)
        if stored is not None:
            return stored
        question = await questions.load(self.db, order.job_id, order.question)
        if not question.is_open:
            return AnswerReceipt()  # answered before: whoever waits goes on with that answer
        try:
            given = await self._given(order, question)
        except BadInput as error:
            return await self._refuse(order, str(error))
        try:
            return await self._record(order, question, given)
        except BadInput as error:
            return await self._refuse(order, str(error))

    async def _record(self, order: AnswerOrder, question: Question, given: Given) -> AnswerReceipt:
        origin = Origin.DEFAULT if order.by_default else Origin.USER
        async with self.db.job(order.job_id, order.epoch) as write:
            answer = written(given.choice, given.words)
            await questions.answer_question(write, question, answer, origin, order.by)
            await questions.drop_words(write, order.words)
            receipt = await self._effect(write, order, question, given)
            if receipt.ends is not None:
                # That it has a reason to stop already is how a new run knows.
                ends = receipt.ends
                await write.set(stop_reason=ends.reason.value, message=ends.message)
            await receipts.keep(write, order.key, receipt)
        return receipt

    async def _given(self, order: AnswerOrder, question: Question) -> Given:
        """The answer with all that can be wrong with it found out.

        Raises:
            BadInput: it does not fit the question, or the edited plan cannot run.
        """
        if order.by_default:
            default = question.default or NOBODY_KNOWS
            choice, words = read_answer(question.kind, default)
        else:
            choice = order.choice
            words = await questions.read_words(self.db, order.job_id, order.words)
            check_answer(question.kind, choice, has_words=bool(words))
        edit = await self._edit(order, words) if choice == Choice.EDIT else None
        return Given(choice, words, edit)

    async def _edit(self, order: AnswerOrder, words: str) -> Edit:
        request = await self.requests.of(order)
        stored = await plans.load_plan(self.db, order.job_id)
        return await checked_edit(self.hub, self.agents, request, stored, words)

    async def _refuse(self, order: AnswerOrder, why: str) -> AnswerReceipt:
        """Keep all the faults for whoever answered; the question stays open."""
        receipt = AnswerReceipt(refused=shortened(why, _FIRST_LINE))
        async with self.db.job(order.job_id, order.epoch) as write:
            write.event(questions.REFUSED, question=order.question, by=order.by, why=why[:4000])
            await receipts.keep(write, order.key, receipt)
        return receipt

    async def _effect(
        self, write: JobWrite, order: AnswerOrder, question: Question, given: Given
    ) -> AnswerReceipt:
        match question.kind:
            case QuestionKind.APPROVAL:
                return await self._approved(write, order, given)
            case QuestionKind.BUDGET:
                return await _budgeted(write, order, given)
        if question.kind is QuestionKind.ESCALATION and not given.choice:
            # Its next attempt heeds these words, and so does whoever plans what is missing.
            await questions.tell_planning(write, f"{question.task_id}: {given.words}", order.by)
        return AnswerReceipt()

    async def _approved(self, write: JobWrite, order: AnswerOrder, given: Given) -> AnswerReceipt:
        match given.choice:
            case Choice.REFUSE:
                return refused(given.words)
            case Choice.EDIT:
                assert given.edit is not None
                await editing.store_edit(write, given.edit, order.by)
                return AnswerReceipt(begins_anew=True)
            case Choice.REVISE:
                await questions.tell_planning(write, given.words, order.by)
                plan = await plans.load_plan(self.db, order.job_id)
                await editing.set_aside(write, plan, "somebody wants another plan")
                return AnswerReceipt(begins_anew=True)
        return AnswerReceipt()


async def _budgeted(write: JobWrite, order: AnswerOrder, given: Given) -> AnswerReceipt:
    """Raise the cap, report what there is, or stop; other settings are read by a fresh run."""
    words = f"{given.choice} {given.words}".strip()
    receipt = await settle_budget(write, words, order.by)
    return receipt.model_copy(update={"begins_anew": receipt.ends is None})
