"""Store the proven answer of a cited loop with the evidence of its quotes, and load it."""

from sqlalchemy import insert, select
from sqlalchemy.dialects.postgresql import insert as upsert

from holdfast.models.loop.loop_results import LoopResult, ProvenQuote, ProvenSentence
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.evidence_tables import evidence
from holdfast.storage.core.tables.loop_tables import loop_results
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.plans.transcript_rows import LoopAttempt


async def store_loop_result(
    write: JobTransaction, place: LoopAttempt, entity: str, result: LoopResult
) -> LoopResult:
    """Store the quotes as evidence of their steps, and the result; return it with evidence ids."""
    ids: dict[ProvenQuote, int] = {}
    sentences = []
    for sentence in result.sentences:
        for quote in sentence.quotes:
            if quote not in ids:
                ids[quote] = await _store_evidence(write, entity, quote)
        sentences.append(_with_evidence(sentence, ids))
    stored = result.model_copy(update={"sentences": tuple(sentences)})
    row = {
        "job_id": write.job_id,
        "task_id": place.task_id,
        "attempt": place.attempt,
        "body": stored.model_dump(mode="json"),
    }
    await write.connection.execute(upsert(loop_results).values(row).on_conflict_do_nothing())
    return stored


def _with_evidence(sentence: ProvenSentence, ids: dict[ProvenQuote, int]) -> ProvenSentence:
    return sentence.model_copy(
        update={"evidence_ids": tuple(ids[quote] for quote in sentence.quotes)}
    )


async def _store_evidence(write: JobTransaction, entity: str, quote: ProvenQuote) -> int:
    row = {
        "job_id": write.job_id,
        "task_id": quote.step_id,
        "attempt": quote.attempt,
        "entity": entity,
        "source_id": quote.source_id,
        "start_char": quote.start,
        "end_char": quote.end,
        "quote": quote.quote,
    }
    statement = insert(evidence).values(row).returning(evidence.c.id)
    return int((await write.connection.execute(statement)).scalar_one())


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
