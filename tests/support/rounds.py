"""Jobs whose agents have worked: results, quotes and steps, put straight into the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import insert, select, update

from activities.gaps import GapFilling
from activities.parts import Requests
from activities.verifying import Verifying
from models.attempts import FoundEntity
from models.jobs import JobRequest
from models.orders import RoundOrder
from models.plan import Expected, Plan, Task, TaskKind, TaskStatus
from models.state import PlanReceipt, RoundReceipt
from models.strategy import Strategy
from models.tables import attempt_results, entities, evidence, sources, tasks
from models.verification import StopCheck, Verification
from storage import attempts, jobs, plans, verifications, views
from storage.database import Database
from storage.plans import Revision, StoredTask
from tests.support.engine import Engine


def agent(task_id: str, *after: str, name: str = "generalist", **fields: object) -> Task:
    """A sub-question that promises one value."""
    usual: dict[str, object] = {
        "description": f"find the value of {task_id}",
        "expects": (Expected(name="value"),),
    }
    return Task(id=task_id, kind=TaskKind.AGENT, agent=name, depends_on=after, **(usual | fields))


@dataclass
class Worked:
    """A job in the database, and the activities that verify it, with the epoch that may write."""

    engine: Engine
    job_id: str
    epoch: int
    request: JobRequest

    @property
    def db(self) -> Database:
        return self.engine.db

    def order(self, iteration: int) -> RoundOrder:
        return RoundOrder(job_id=self.job_id, epoch=self.epoch, iteration=iteration)

    async def verify(self, iteration: int) -> RoundReceipt:
        parts = self.engine.parts
        work = Verifying(parts.db, parts.models, Requests(parts.db))
        return await work.verify_results(self.order(iteration))

    async def fill(self, iteration: int) -> PlanReceipt:
        parts = self.engine.parts
        work = GapFilling(parts.db, parts.models, Requests(parts.db), parts.hub)
        return await work.fill_gaps(self.order(iteration))

    async def found(
        self,
        task_id: str,
        *,
        quote: str = "",
        attempt: int = 1,
        confidence: float = 0.9,
        address: str = "a.md",
        step: str = "",
        **values: object,
    ) -> None:
        """The task's attempt came to its end with these values, as the node activity stores it.

        `quote` is evidence of the first value; of the `step`, where one is named.
        """
        kept = [
            FoundEntity(name=name, value=value, confidence=confidence)
            for name, value in values.items()
        ]
        async with self.db.job(self.job_id, self.epoch) as write:
            await attempts.keep_attempt(write, task_id, attempt, kept, confidence)
            if attempt == 1:
                place = {"job_id": self.job_id, "task_id": task_id}
                rows = [place | each.model_dump(mode="json") for each in kept]
                await write.connection.execute(insert(entities), rows)
        await self._end(task_id, TaskStatus.DONE, confidence)
        if step:
            await self._step(task_id, step)
        if quote:
            name = next(iter(values))
            await self._quote(step or task_id, name, quote, address, 1 if step else attempt)

    async def failed(self, task_id: str, message: str = "nothing was found") -> None:
        failure = {"component": "extractor", "failure_class": "semantic", "message": message}
        await self._end(task_id, TaskStatus.FAILED, None, failure)

    async def _end(
        self,
        task_id: str,
        status: TaskStatus,
        confidence: float | None,
        failure: Mapping[str, object] | None = None,
    ) -> None:
        async with self.db.writing() as connection:
            await connection.execute(
                update(tasks)
                .where(tasks.c.job_id == self.job_id, tasks.c.id == task_id)
                .values(status=status.value, confidence=confidence, failure=failure)
            )

    async def _step(self, task_id: str, step: str) -> None:
        taken = Task(
            id=step,
            kind=TaskKind.TOOL,
            description="a step",
            tool="lab.wikipedia_search",
            parent=task_id,
            status=TaskStatus.DONE,
        )
        change = Revision(revision=0, cause="planned", scope=task_id, added=(step,))
        known = await self.tasks()
        plan = Plan(tasks=(*(each.task for each in known), taken))
        async with self.db.job(self.job_id, self.epoch) as write:
            await plans.store_revision(write, plan, change, {step: step})

    async def _quote(
        self, task_id: str, entity: str, quote: str, address: str, attempt: int
    ) -> None:
        text = f"{quote} in {address}"
        source = {
            "sha256": f"{task_id}-{attempt}-{address}", "address": address, "title": address,
            "text": text, "start_char": 0, "end_char": len(text),
        }  # fmt: skip
        async with self.db.writing() as connection:
            added = insert(sources).values(source).returning(sources.c.id)
            source_id = (await connection.execute(added)).scalar_one()
            await connection.execute(
                insert(evidence).values(
                    job_id=self.job_id, task_id=task_id, entity=entity, source_id=source_id,
                    start_char=0, end_char=len(quote), quote=quote, attempt=attempt,
                )
            )  # fmt: skip

    async def tasks(self) -> list[StoredTask]:
        return await plans.load_tasks(self.db, self.job_id)

    async def task(self, task_id: str) -> StoredTask:
        return await plans.load_task(self.db, self.job_id, task_id)

    async def values(self, task_id: str) -> dict[str, object]:
        return dict((await self.task(task_id)).task.result)

    async def quotes(self) -> set[str]:
        """The quotes that count."""
        query = select(evidence.c.quote).where(
            evidence.c.job_id == self.job_id, evidence.c.status == "active"
        )
        async with self.db.reading() as connection:
            return set((await connection.execute(query)).scalars())

    async def kept_attempts(self, task_id: str) -> dict[int, bool]:
        query = select(attempt_results.c.attempt, attempt_results.c.is_kept).where(
            attempt_results.c.job_id == self.job_id, attempt_results.c.task_id == task_id
        )
        async with self.db.reading() as connection:
            return {row[0]: row[1] for row in (await connection.execute(query)).all()}

    async def notes(self, task_id: str) -> dict[str, object]:
        query = select(tasks.c.notes).where(tasks.c.job_id == self.job_id, tasks.c.id == task_id)
        async with self.db.reading() as connection:
            return dict((await connection.execute(query)).scalar_one() or {})

    async def verdicts(self, iteration: int) -> dict[str, Verification]:
        found = await verifications.verdicts_of(self.db, self.job_id)
        return {each.task_id: each for each in found.get(iteration, ())}

    async def ledger(self) -> list[StopCheck]:
        return await verifications.rounds_of(self.db, self.job_id)

    async def events(self, kind: str) -> list[Mapping[str, object]]:
        found = await views.events_after(self.db, self.job_id, 0)
        return [event.facts | {"task": event.task} for event in found if event.kind == kind]


async def worked_job(
    engine: Engine,
    planned: Sequence[Task],
    *,
    question: str = "How did it go?",
    model: str = "scripted",
    **settings: object,
) -> Worked:
    """A running job with this plan, of which nothing has run yet."""
    strategy = Strategy.model_validate({"verify": True, "grain": "nodes"} | settings)
    request = JobRequest(question=question, preset="test", model=model, strategy=strategy)
    job_id, _ = await jobs.submit(engine.db, f"job-{len(planned)}-{id(request)}", request, None)
    epoch = await jobs.begin(engine.db, job_id, "run-1")
    names = tuple(task.id for task in planned)
    change = Revision(revision=0, cause="planned", added=names)
    async with engine.db.job(job_id, epoch) as write:
        plan = Plan(tasks=tuple(planned))
        await plans.store_revision(write, plan, change, {name: name for name in names})
    return Worked(engine, job_id, epoch, request)
