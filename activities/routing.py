"""An agent's question on its way: memory, then evidence, then another task, the user last."""

import hashlib
import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from activities.asking import Desk
from models.base import Frozen
from models.plan import Plan, TaskStatus
from models.questions import OpenQuestion, Origin, QuestionKind
from models.state import TaskState
from models.text import shortened
from planning.answers import NOBODY_KNOWS
from planning.routing import asked_task, fitting_task, is_asked_task
from roles.answerer import ANSWERER, AnswererAnswer, AnswererTask, KnownItem
from storage import knowledge, plans, questions, receipts
from storage.database import Database, JobWrite
from storage.plans import Revision
from storage.questions import NewQuestion

_PASSAGES = 8
_LONGEST_VALUE = 500
_KEY = "asked:"
_OVER = (TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.SUPERSEDED, TaskStatus.CANCELLED)


class Raised(Frozen):
    """What an agent needs to know to go on."""

    task_id: str
    text: str
    default: str | None = None
    """What it goes on with if nobody knows."""


class Routed(Frozen):
    """An answer with its origin; or the question that waits; or the tasks to wait for."""

    answer: str | None = None
    origin: Origin | None = None
    asks: OpenQuestion | None = None
    waits_for: tuple[str, ...] = ()
    added: tuple[TaskState, ...] = ()
    """Those of `waits_for` that are new in the plan."""


class Routing(Frozen):
    """The receipt of one routing to another task."""

    task_id: str
    waits_for: tuple[str, ...]
    added: tuple[TaskState, ...] = ()
    trail: tuple[str, ...] = ()


async def route_question(db: Database, desk: Desk, raised: Raised) -> Routed:
    """Have the question answered by whoever knows; asked again it goes on where it stood.

    While `waits_for` names unfinished tasks, asking again gives the same. Repeating: model calls
    are taken from the ledger, and a routing, an answer or a question is stored once.

    Raises:
        Passing: the model is busy.
        Lasting: the model refused.
    """
    return await _Way(db, desk, raised).go()


@dataclass
class _Way:
    """One question on its way, and who has been asked so far."""

    db: Database
    desk: Desk
    raised: Raised
    trail: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        digest = hashlib.sha256(self.raised.text.strip().encode()).hexdigest()
        return f"{self.raised.task_id}:{digest[:16]}"

    async def go(self) -> Routed:
        stood = await self._stands()
        if stood is not None:
            return stood
        past = await self._past()
        if past and await self._is_under_way(past[-1]):
            return Routed(waits_for=past[-1].waits_for, added=past[-1].added)
        self.trail = list(past[-1].trail) if past else []
        known = await self._from_memory(past) or await self._from_evidence(len(past))
        if known is not None:
            return known
        if len(past) < self.desk.strategy.max_routings and not is_asked_task(self.raised.task_id):
            return await self._to_task(len(past) + 1)
        return await self._to_user()

    async def _stands(self) -> Routed | None:
        """The answer that is there, or the question that waits."""
        asked = await questions.find(self.db, self.desk.job_id, self.key)
        if asked is None:
            return None
        if asked.answer is not None:
            return Routed(answer=asked.answer, origin=asked.origin)
        if not asked.is_open:
            return None
        waits = OpenQuestion(
            id=asked.id, kind=asked.kind, task_id=asked.task_id, deadline=asked.deadline
        )
        return Routed(asks=waits)

    async def _past(self) -> list[Routing]:
        prefix = f"{_KEY}{self.key}#"
        found = await knowledge.receipts_under(self.db, self.desk.job_id, prefix)
        return [Routing.model_validate(each) for each in found]

    async def _is_under_way(self, routing: Routing) -> bool:
        plan = await plans.load_plan(self.db, self.desk.job_id)
        return any(plan.by_id[name].status not in _OVER for name in routing.waits_for)

    async def _from_memory(self, past: list[Routing]) -> Routed | None:
        job_id, asker = self.desk.job_id, self.raised.task_id
        values = await knowledge.values_beside(self.db, job_id, asker)
        items = tuple(
            KnownItem(
                id=f"{each.task}.{each.name}",
                about=f"{each.name}: {each.description}",
                says=shortened(_text(each.value), _LONGEST_VALUE),
            )
            for each in values
        )
        found = await self._known(items, "memory", len(past))
        if found is None:
            return None
        asked = {name for each in past for name in each.waits_for}
        is_of_asked = any((found.rests_on or "").startswith(f"{name}.") for name in asked)
        return await self._answered(found, Origin.TASK if is_of_asked else Origin.MEMORY)

    async def _from_evidence(self, routings: int) -> Routed | None:
        job_id, question = self.desk.job_id, self.raised.text
        passages = await knowledge.passages_about(self.db, job_id, question, _PASSAGES)
        items = tuple(
            KnownItem(
                id=f"E{each.id}", about=" - ".join(filter(None, (each.title, each.heading))),
                says=each.text,
            )
            for each in passages
        )  # fmt: skip
        found = await self._known(items, "evidence", routings)
        return None if found is None else await self._answered(found, Origin.EVIDENCE)

    async def _known(
        self, items: tuple[KnownItem, ...], where: str, routings: int
    ) -> AnswererAnswer | None:
        """What the answerer makes of these items, if it is an answer that rests on one of them."""
        if not items:
            self.trail.append(f"{where}: there is nothing")
            return None
        place = f"{self.key}/{where}{routings}"
        # In the words of an attempt that was lost: what the job knows has grown since.
        task = await self.desk.as_begun(
            ANSWERER, AnswererTask(question=self.raised.text, items=items), place=place
        )
        ids = {each.id for each in task.items}
        asked = await self.desk.ask(ANSWERER, task, place=place, check=lambda a: _faults(a, ids))
        if asked.answer is None or not asked.answer.answer:
            self.trail.append(f"{where}: none of {len(task.items)} answers it")
            return None
        self.trail.append(f"{where}: {asked.answer.rests_on}")
        return asked.answer

    async def _answered(self, found: AnswererAnswer, origin: Origin) -> Routed:
        answer = found.answer or ""
        async with self._write() as write:
            await questions.keep_answered(write, self._new(), answer, origin, found.rests_on or "")
        return Routed(answer=answer, origin=origin)

    async def _to_task(self, number: int) -> Routed:
        """Wait for a task whose promise fits, or for a new one that looks into it."""
        job_id, asker = self.desk.job_id, self.raised.task_id
        async with self._write() as write:
            # Read under the job's lock: two agents that ask at once add two tasks.
            plan = await plans.load_plan(self.db, job_id)
            waits = await self._waits()
            fit = fitting_task(plan, asker, self.raised.text, waits)
            new = await self._add(write, plan) if fit is None else None
            added: tuple[TaskState, ...] = () if new is None else (new,)
            name = (fit or added[0]).id
            self.trail.append(f"task {name}: asked")
            routing = Routing(
                task_id=asker, waits_for=(name,), added=added, trail=tuple(self.trail)
            )
            write.event("question.routed", asker, to=name, is_new=fit is None)
            await receipts.keep(write, f"{_KEY}{self.key}#{number}", routing)
        return Routed(waits_for=routing.waits_for, added=added)

    async def _waits(self) -> dict[str, tuple[str, ...]]:
        """Which tasks every asker of the job was sent to: two must not wait for each other."""
        waits: dict[str, tuple[str, ...]] = {}
        for body in await knowledge.receipts_under(self.db, self.desk.job_id, _KEY):
            routing = Routing.model_validate(body)
            waits[routing.task_id] = (*waits.get(routing.task_id, ()), *routing.waits_for)
        return waits

    async def _add(self, write: JobWrite, plan: Plan) -> TaskState:
        task = asked_task(plan.by_id, self.raised.text)
        change = Revision(
            revision=0, cause="question", added=(task.id,),
            explanation=f"{self.raised.task_id} asks: {self.raised.text}",
        )  # fmt: skip
        after = Plan(tasks=(*plan.tasks, task))
        await plans.store_revision(write, after, change, {task.id: task.id})
        return TaskState(
            id=task.id, kind=task.kind, label=plans.label_of(task), priority=task.priority,
            root=task.id,
        )  # fmt: skip

    async def _to_user(self) -> Routed:
        """Ask the user; where nobody may be asked, or nobody answers, the default is taken."""
        strategy = self.desk.strategy
        default = self.raised.default or NOBODY_KNOWS
        async with self._write() as write:
            if not strategy.questions:
                new = self._new()
                await questions.keep_answered(write, new, default, Origin.DEFAULT)
                return Routed(answer=default, origin=Origin.DEFAULT)
            deadline = datetime.now(UTC) + strategy.question_deadline
            new = self._new().model_copy(update={"default": default, "deadline": deadline})
            asks = await questions.open_question(write, new)
        return Routed(asks=asks) if asks is not None else await self.go()

    def _new(self) -> NewQuestion:
        return NewQuestion(
            key=self.key,
            kind=QuestionKind.QUESTION,
            text=self.raised.text,
            task_id=self.raised.task_id,
            default=self.raised.default,
            trail=tuple(self.trail),
        )

    def _write(self) -> AbstractAsyncContextManager[JobWrite]:
        return self.db.job(self.desk.job_id, self.desk.epoch)


def _faults(answer: AnswererAnswer, ids: set[str]) -> list[str]:
    """An answer rests on one of the items; nothing rests on nothing."""
    if answer.answer is None or answer.rests_on in ids:
        return []
    return [f"rests_on is {answer.rests_on!r}, which is none of the items' ids"]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
