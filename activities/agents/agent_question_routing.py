"""Route an agent's question to the job's results, its evidence, another task or the user."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.activities.runtime.pending_task_states import pending_state
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_state import TaskState
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan
from holdfast.models.questions.user_questions import AnswerOrigin, OpenQuestion, QuestionKind
from holdfast.models.text.passage_titles import title_with_headings
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import value_as_text
from holdfast.models.wire import call_places, stored_keys
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.questions.answer_choices import NO_ANSWER_TEXT
from holdfast.planning.questions.question_targets import (
    best_answering_task,
    is_question_task,
    new_question_task,
)
from holdfast.roles.agents.answerer import ANSWERER, AnswererAnswer, AnswererTask, KnownItem
from holdfast.storage.core import receipt_rows
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.evidence import job_knowledge_queries
from holdfast.storage.plans import plan_change_rows, task_queries
from holdfast.storage.questions import question_rows
from holdfast.storage.questions.question_rows import NewQuestion

_PASSAGES = 8
_LONGEST_VALUE = 500


class AgentQuestion(Frozen):
    """A question of an agent task."""

    task_id: str
    text: str
    default: str | None = None
    """The answer that the agent assumes if nobody answers."""
    is_for_user: bool = False
    """True: only the user is asked. An agent that works on the whole question by itself has read
    all that the job knows, and no other task would find more."""


class RoutingResult(Frozen):
    """An answer with its origin, an open question, or the tasks to wait for."""

    answer: str | None = None
    origin: AnswerOrigin | None = None
    question: OpenQuestion | None = None
    waits_for: tuple[str, ...] = ()
    added: tuple[TaskState, ...] = ()
    """The tasks of `waits_for` that are new in the plan."""


class RoutingReceipt(Frozen):
    """The receipt of one routing to another task."""

    task_id: str
    waits_for: tuple[str, ...]
    added: tuple[TaskState, ...] = ()
    trail: tuple[str, ...] = ()


async def route_question(
    db: Database, model_caller: ModelCaller, raised: AgentQuestion
) -> RoutingResult:
    """Route a question: answer it from memory, evidence or a task, or ask the user.

    While `waits_for` names unfinished tasks, the same call returns the same result. Repeating:
    model calls come from the call ledger, and a routing, answer or question is stored once.

    Raises:
        Passing: the model is busy.
        Lasting: the model refused.
    """
    return await QuestionRouter(db, model_caller, raised).route()


@dataclass
class QuestionRouter:
    """The routing of one question."""

    db: Database
    model_caller: ModelCaller
    raised: AgentQuestion
    trail: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        return stored_keys.agent_question(self.raised.task_id, self.raised.text)

    async def route(self) -> RoutingResult:
        stood = await self._existing_answer()
        if stood is not None:
            return stood
        past = await self._earlier_routings()
        if past and await self._is_under_way(past[-1]):
            return RoutingResult(waits_for=past[-1].waits_for, added=past[-1].added)
        if self.raised.is_for_user:
            return await self._ask_user()
        self.trail = list(past[-1].trail) if past else []
        known = await self._from_memory(past) or await self._from_evidence(len(past))
        if known is not None:
            return known
        if len(past) < self.model_caller.strategy.max_routings and not is_question_task(
            self.raised.task_id
        ):
            return await self._route_to_task(len(past) + 1)
        return await self._ask_user()

    async def _existing_answer(self) -> RoutingResult | None:
        """Return the recorded answer or the open question, if there is one."""
        asked = await question_rows.find_question(self.db, self.model_caller.job_id, self.key)
        if asked is None:
            return None
        if asked.answer is not None:
            return RoutingResult(answer=asked.answer, origin=asked.origin)
        if not asked.is_open:
            return None
        waits = OpenQuestion(
            id=asked.id, kind=asked.kind, task_id=asked.task_id, deadline=asked.deadline
        )
        return RoutingResult(question=waits)

    async def _earlier_routings(self) -> list[RoutingReceipt]:
        prefix = stored_keys.routing_receipts(self.key)
        found = await job_knowledge_queries.receipts_with_prefix(
            self.db, self.model_caller.job_id, prefix
        )
        return [RoutingReceipt.model_validate(each) for each in found]

    async def _is_under_way(self, routing: RoutingReceipt) -> bool:
        plan = await task_queries.load_plan(self.db, self.model_caller.job_id)
        return any(plan.by_id[name].status.is_open for name in routing.waits_for)

    async def _from_memory(self, past: list[RoutingReceipt]) -> RoutingResult | None:
        job_id, asker = self.model_caller.job_id, self.raised.task_id
        values = await job_knowledge_queries.values_of_other_tasks(self.db, job_id, asker)
        items = tuple(
            KnownItem(
                id=f"{task_id}.{entity.name}",
                about=f"{entity.name}: {entity.description}",
                says=shorten_text(value_as_text(entity.value), _LONGEST_VALUE),
            )
            for task_id, entity in values
        )
        found = await self._known(items, "memory", len(past))
        if found is None:
            return None
        asked = {name for each in past for name in each.waits_for}
        is_of_asked = any((found.rests_on or "").startswith(f"{name}.") for name in asked)
        return await self._answered(
            found, AnswerOrigin.TASK if is_of_asked else AnswerOrigin.MEMORY
        )

    async def _from_evidence(self, routings: int) -> RoutingResult | None:
        job_id, question = self.model_caller.job_id, self.raised.text
        passages = await job_knowledge_queries.passages_about(self.db, job_id, question, _PASSAGES)
        items = tuple(
            KnownItem(
                id=f"E{each.id}",
                about=title_with_headings(each.title, each.heading),
                says=each.text,
            )
            for each in passages
        )
        found = await self._known(items, "evidence", routings)
        return None if found is None else await self._answered(found, AnswerOrigin.EVIDENCE)

    async def _known(
        self, items: tuple[KnownItem, ...], where: str, routings: int
    ) -> AnswererAnswer | None:
        """Return the answer that the answerer finds in these items, or None."""
        if not items:
            self.trail.append(f"{where}: there is nothing")
            return None
        place = call_places.answer_place(self.key, where, routings)
        # With the prompt of a lost attempt: the job may know more by now.
        task = await self.model_caller.recorded_task(
            ANSWERER, AnswererTask(question=self.raised.text, items=items), place=place
        )
        ids = {each.id for each in task.items}
        asked = await self.model_caller.ask(
            ANSWERER, task, place=place, check=lambda a: _answer_faults(a, ids)
        )
        if asked.answer is None or not asked.answer.answer:
            self.trail.append(f"{where}: none of {len(task.items)} answers it")
            return None
        self.trail.append(f"{where}: {asked.answer.rests_on}")
        return asked.answer

    async def _answered(self, found: AnswererAnswer, origin: AnswerOrigin) -> RoutingResult:
        answer = found.answer or ""
        async with self._write() as write:
            await question_rows.keep_answered_question(
                write, self._new(), answer, origin, found.rests_on or ""
            )
        return RoutingResult(answer=answer, origin=origin)

    async def _route_to_task(self, number: int) -> RoutingResult:
        """Wait for a task that will answer the question, or add a new task for it."""
        job_id, asker = self.model_caller.job_id, self.raised.task_id
        async with self._write() as write:
            # Read under the job's lock, so that two agents that ask at the same time add two tasks.
            plan = await task_queries.load_plan(self.db, job_id)
            waits = await self._waits()
            fit = best_answering_task(plan, asker, self.raised.text, waits)
            new = await self._add(write, plan) if fit is None else None
            added: tuple[TaskState, ...] = () if new is None else (new,)
            name = (fit or added[0]).id
            self.trail.append(f"task {name}: asked")
            routing = RoutingReceipt(
                task_id=asker, waits_for=(name,), added=added, trail=tuple(self.trail)
            )
            write.event(EventKind.QUESTION_ROUTED, asker, to=name, is_new=fit is None)
            await receipt_rows.keep_receipt(
                write, stored_keys.routing_receipt(self.key, number), routing
            )
        return RoutingResult(waits_for=routing.waits_for, added=added)

    async def _waits(self) -> dict[str, tuple[str, ...]]:
        """Return the tasks that each asking task waits for: two must not wait for each other."""
        waits: dict[str, tuple[str, ...]] = {}
        for body in await job_knowledge_queries.receipts_with_prefix(
            self.db, self.model_caller.job_id, stored_keys.ROUTING_RECEIPTS
        ):
            routing = RoutingReceipt.model_validate(body)
            waits[routing.task_id] = (*waits.get(routing.task_id, ()), *routing.waits_for)
        return waits

    async def _add(self, write: JobTransaction, plan: Plan) -> TaskState:
        task = new_question_task(plan.by_id, self.raised.text)
        change = PlanChange(
            cause=PlanChangeCause.QUESTION,
            added=(task,),
            explanation=f"{self.raised.task_id} asks: {self.raised.text}",
        )
        await plan_change_rows.store_change(write, plan, change)
        return pending_state(task, root=task.id)

    async def _ask_user(self) -> RoutingResult:
        """Ask the user, or take the default if nobody may be asked or nobody answers."""
        strategy = self.model_caller.strategy
        default = self.raised.default or NO_ANSWER_TEXT
        async with self._write() as write:
            if not strategy.questions:
                new = self._new()
                await question_rows.keep_answered_question(
                    write, new, default, AnswerOrigin.DEFAULT
                )
                return RoutingResult(answer=default, origin=AnswerOrigin.DEFAULT)
            deadline = datetime.now(UTC) + strategy.question_deadline
            new = self._new().model_copy(update={"default": default, "deadline": deadline})
            question = await question_rows.open_question(write, new)
        return RoutingResult(question=question) if question is not None else await self.route()

    def _new(self) -> NewQuestion:
        return NewQuestion(
            key=self.key,
            kind=QuestionKind.QUESTION,
            text=self.raised.text,
            task_id=self.raised.task_id,
            default=self.raised.default,
            trail=tuple(self.trail),
        )

    def _write(self) -> AbstractAsyncContextManager[JobTransaction]:
        caller = self.model_caller
        return self.db.job(caller.job_id, caller.epoch, caller.seen)


def _answer_faults(answer: AnswererAnswer, ids: set[str]) -> list[str]:
    """Return the faults of an answer: it must name the item that it comes from."""
    if answer.answer is None or answer.rests_on in ids:
        return []
    return [f"rests_on is {answer.rests_on!r}, which is none of the items' ids"]
