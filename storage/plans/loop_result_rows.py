"""Store the proven answer of a cited loop with the evidence of its quotes, and load it."""

from collections.abc import Collection, Sequence

from sqlalchemy import insert, select
from sqlalchemy.dialects.postgresql import insert as upsert

from holdfast.models.loop.loop_results import LoopResult, ProvenQuote, ProvenValue
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.evidence_tables import entities, evidence
from holdfast.storage.core.tables.loop_tables import loop_results
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.plans.transcript_rows import LoopAttempt


async def store_loop_result(
    write: JobTransaction,
    place: LoopAttempt,
    entity: str,
    result: LoopResult,
    own_steps: Collection[str],
    promises: Sequence[ExpectedEntity] = (),
) -> LoopResult:
    """Store the quotes as evidence, and the result; return it with evidence ids.

    Quotes of `own_steps` are evidence of the step that read them, under the name of the value that
    they show, which becomes an entity of the step; those of sentences are under `entity`. A quote
    that another task read is evidence of the agent task itself.
    """
    rows = _EvidenceRows(write, place, own_steps)
    for value in result.values:
        promise = next((each for each in promises if each.name == value.name), None)
        if promise is not None and not value.why_refused:
            await rows.store_value(value, promise)
    sentences = []
    for sentence in result.sentences:
        ids = [await rows.store(quote, entity) for quote in sentence.quotes]
        sentences.append(sentence.model_copy(update={"evidence_ids": tuple(ids)}))
    stored = result.model_copy(update={"sentences": tuple(sentences)})
    row = {
        "job_id": write.job_id,
        "task_id": place.task_id,
        "attempt": place.attempt,
        "body": stored.model_dump(mode="json"),
    }
    await write.connection.execute(upsert(loop_results).values(row).on_conflict_do_nothing())
    return stored


class _EvidenceRows:
    """The evidence of one result; the same quote is stored once for each entity."""

    def __init__(
        self, write: JobTransaction, place: LoopAttempt, own_steps: Collection[str]
    ) -> None:
        self._write = write
        self._place = place
        self._own_steps = own_steps
        self._ids: dict[tuple[ProvenQuote, str], int] = {}

    async def store_value(self, value: ProvenValue, promise: ExpectedEntity) -> None:
        """Store a value's quotes; the steps that read them have found the value."""
        found = EntityValue.of_promise(promise, value.value, value.confidence)
        for step in sorted({quote.step_id for quote in value.quotes} & set(self._own_steps)):
            row = {"job_id": self._write.job_id, "task_id": step, **found.model_dump(mode="json")}
            statement = upsert(entities).values(row).on_conflict_do_nothing()
            await self._write.connection.execute(statement)
        for quote in value.quotes:
            await self.store(quote, value.name)

    async def store(self, quote: ProvenQuote, entity: str) -> int:
        """Return the id of the stored quote."""
        if (quote, entity) not in self._ids:
            self._ids[quote, entity] = await self._inserted(quote, entity)
        return self._ids[quote, entity]

    async def _inserted(self, quote: ProvenQuote, entity: str) -> int:
        is_own = quote.step_id in self._own_steps
        row = {
            "job_id": self._write.job_id,
            "task_id": quote.step_id if is_own else self._place.task_id,
            "attempt": quote.attempt if is_own else self._place.attempt,
            "entity": entity,
            "source_id": quote.source_id,
            "start_char": quote.start,
            "end_char": quote.end,
            "quote": quote.quote,
        }
        statement = insert(evidence).values(row).returning(evidence.c.id)
        return int((await self._write.connection.execute(statement)).scalar_one())


async def load_loop_results(db: Database, job_id: str) -> dict[str, LoopResult]:
    """Return the results of the job's loops by task: of each task's present attempt."""
    query = (
        select(loop_results.c.task_id, loop_results.c.body)
        .join(
            tasks,
            (tasks.c.job_id == loop_results.c.job_id) & (tasks.c.id == loop_results.c.task_id),
        )
        .where(loop_results.c.job_id == job_id, loop_results.c.attempt == tasks.c.attempt)
        .order_by(tasks.c.position)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return {row.task_id: LoopResult.model_validate(row.body) for row in rows}


async def load_loop_result(db: Database, job_id: str, place: LoopAttempt) -> LoopResult | None:
    """Return the result of one attempt; None if it ended without an answer."""
    query = select(loop_results.c.body).where(
        loop_results.c.job_id == job_id,
        loop_results.c.task_id == place.task_id,
        loop_results.c.attempt == place.attempt,
    )
    async with db.reading() as connection:
        body = (await connection.execute(query)).scalar_one_or_none()
    return None if body is None else LoopResult.model_validate(body)
