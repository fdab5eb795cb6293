"""Store a job with results, quotes and steps of agents, and run the activities that verify it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import insert, select, update

from holdfast.activities.verification.gap_filling_activities import GapActivities
from holdfast.activities.verification.verification_activities import VerificationActivities
from holdfast.models.jobs.activity_orders import VerificationRoundOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.jobs.job_state import PlanReceipt, VerificationRoundReceipt
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import ExpectedEntity, Plan, Task, TaskKind, TaskStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.models.tasks.stored_task import StoredTask, plan_of
from holdfast.models.verification.verification_verdicts import StopLogEntry, Verification
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.evidence_tables import entities, evidence, sources
from holdfast.storage.core.tables.plan_tables import attempt_results, tasks
from holdfast.storage.evidence import verification_rows
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import attempt_result_rows, plan_change_rows, task_queries
from holdfast.storage.views import job_queries
from tests.support.jobs.running_engine import RunningEngine


def verified_agent_task(
    task_id: str, *after: str, name: str = "generalist", **fields: object
) -> Task:
    """A sub-question that promises one value."""
    usual: dict[str, object] = {
        "description": f"find the value of {task_id}",
        "expects": (ExpectedEntity(name="value"),),
    }
    return Task(id=task_id, kind=TaskKind.AGENT, agent=name, depends_on=after, **(usual | fields))


@dataclass
class VerificationJob:
    """A job in the database, and the activities that verify it, with the epoch that may write."""

    engine: RunningEngine
    job_id: str
    epoch: int
    request: JobRequest

    @property
    def db(self) -> Database:
        return self.engine.db

    def order(self, round_: int) -> VerificationRoundOrder:
        return VerificationRoundOrder(job_id=self.job_id, epoch=self.epoch, round=round_)

    async def verify(self, round_: int) -> VerificationRoundReceipt:
        work = VerificationActivities(self.engine.parts)
        return await work.verify_results(self.order(round_))

    async def fill(self, round_: int) -> PlanReceipt:
        work = GapActivities(self.engine.parts)
        return await work.fill_gaps(self.order(round_))

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
            EntityValue(name=name, value=value, confidence=confidence)
            for name, value in values.items()
        ]
        async with self.db.job(self.job_id, self.epoch) as write:
            await attempt_result_rows.keep_attempt_result(write, task_id, attempt, kept, confidence)
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
        change = PlanChange(cause=PlanChangeCause.PLANNED, scope=task_id, added=(taken,))
        plan = plan_of(await self.tasks())
        async with self.db.job(self.job_id, self.epoch) as write:
            await plan_change_rows.store_change(write, plan, change)

    async def _quote(
        self, task_id: str, entity: str, quote: str, address: str, attempt: int
    ) -> None:
        text = f"{quote} in {address}"
        source = {
            "sha256": f"{task_id}-{attempt}-{address}",
            "address": address,
            "title": address,
            "text": text,
            "start_char": 0,
            "end_char": len(text),
        }
        async with self.db.writing() as connection:
            added = insert(sources).values(source).returning(sources.c.id)
            source_id = (await connection.execute(added)).scalar_one()
            await connection.execute(
                insert(evidence).values(
                    job_id=self.job_id,
                    task_id=task_id,
                    entity=entity,
                    source_id=source_id,
                    start_char=0,
                    end_char=len(quote),
                    quote=quote,
                    attempt=attempt,
                )
            )

    async def tasks(self) -> list[StoredTask]:
        return await task_queries.load_tasks(self.db, self.job_id)

    async def task(self, task_id: str) -> StoredTask:
        return await task_queries.load_task(self.db, self.job_id, task_id)

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
        query = select(attempt_results.c.attempt, attempt_results.c.is_chosen).where(
            attempt_results.c.job_id == self.job_id, attempt_results.c.task_id == task_id
        )
        async with self.db.reading() as connection:
            return {row[0]: row[1] for row in (await connection.execute(query)).all()}

    async def notes(self, task_id: str) -> dict[str, object]:
        query = select(tasks.c.notes).where(tasks.c.job_id == self.job_id, tasks.c.id == task_id)
        async with self.db.reading() as connection:
            return dict((await connection.execute(query)).scalar_one() or {})

    async def verdicts(self, round_: int) -> dict[str, Verification]:
        found = await verification_rows.verdicts_of(self.db, self.job_id)
        return {each.task_id: each for each in found.get(round_, ())}

    async def ledger(self) -> list[StopLogEntry]:
        return await verification_rows.verification_rounds_of(self.db, self.job_id)

    async def events(self, kind: str) -> list[Mapping[str, object]]:
        found = await job_queries.events_after(self.db, self.job_id, 0)
        return [event.facts | {"task": event.task} for event in found if event.kind == kind]


async def store_verification_job(
    engine: RunningEngine,
    planned: Sequence[Task],
    *,
    question: str = "How did it go?",
    model: str = "scripted",
    **settings: object,
) -> VerificationJob:
    """A running job with this plan, of which nothing has run yet."""
    strategy = Strategy.model_validate({"verify": True, "grain": "agents"} | settings)
    request = JobRequest(question=question, preset="test", model=model, strategy=strategy)
    job_id, _ = await job_rows.submit_job(
        engine.db, f"job-{len(planned)}-{id(request)}", request, None
    )
    epoch = await job_rows.begin_job_run(engine.db, job_id, "run-1")
    change = PlanChange(cause=PlanChangeCause.PLANNED, added=tuple(planned))
    async with engine.db.job(job_id, epoch) as write:
        await plan_change_rows.store_change(write, Plan(), change)
    return VerificationJob(engine, job_id, epoch, request)
