"""Copy what a fork keeps of the forked job: its plan, and the results of the kept tasks.

A fork is a job of its own: it shares nothing but the stored texts of sources, so the forked job may
go on, change or be removed. Tasks that run again are copied as if they had not begun, and the steps
of their agents are left out. Retracted evidence is copied always, since it supports nothing in the
fork either.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, func, insert, literal, or_, select, true, update

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.errors import NotFound
from holdfast.models.evidence.evidence import EvidenceStatus
from holdfast.models.frozen_model import Frozen
from holdfast.models.loop.loop_results import LoopResult
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.questions.user_questions import QuestionKind, QuestionStatus
from holdfast.models.wire.role_names import RoleName
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.call_tables import figures, model_calls, tool_calls
from holdfast.storage.core.tables.evidence_tables import entities, evidence
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.core.tables.loop_tables import loop_messages, loop_passages, loop_results
from holdfast.storage.core.tables.plan_tables import attempt_results, plan_changes, tasks
from holdfast.storage.core.tables.question_tables import guidance, questions
from holdfast.storage.plans.task_resets import REPAIR_NOTE

_NOT_BEGUN: Mapping[str, Any] = {
    "status": TaskStatus.PENDING.value,
    "attempt": 1,
    "confidence": None,
    "failure": None,
    "trace": None,
    "contradicts_plan": False,
    "started_at": None,
    "finished_at": None,
    "worked_s": 0.0,
}
_UNSPENT: Mapping[str, Any] = {
    "input_tokens": 0,
    "output_tokens": 0,
    "cached_tokens": 0,
    "reasoning_tokens": 0,
    "cost": 0,
    "reserved_tokens": 0,
    "reserved_cost": None,
    "reused": 0,
}


_UNSENT: Mapping[str, Any] = {"reused": 0, "repeated_call_id": None}


class KeptTasks(Frozen):
    """What a fork keeps of the forked job, by the ids of tasks; a step has an id of its own."""

    kept: tuple[str, ...]
    """The tasks whose results are kept."""
    pending: tuple[str, ...]
    """The tasks that run in the fork."""
    owners: Mapping[str, str] = {}
    """The agent task of each step of the forked job."""
    retracted: tuple[int, ...] = ()
    """Evidence of the forked job that counts for nothing in the fork."""


async def hold_origin(write: JobTransaction, origin: str) -> None:
    """Let nobody change the forked job until this transaction ends; every change locks its row."""
    held = select(jobs.c.id).where(jobs.c.id == origin).with_for_update(read=True)
    await write.connection.execute(held)


async def copy_kept_work(write: JobTransaction, origin: str, scope: KeptTasks) -> None:
    """Write the plan of the forked job, and the results of the kept tasks, into the new job."""
    copy = _Copy(write, origin)
    await copy.plan(scope)
    await copy.rows(entities, entities.c.task_id.in_(scope.kept))
    await copy.rows(attempt_results, attempt_results.c.task_id.in_(scope.kept))
    numbers = await copy.evidence(scope)
    await copy.rows(loop_messages, loop_messages.c.task_id.in_(scope.kept))
    await copy.rows(loop_passages, loop_passages.c.task_id.in_(scope.kept))
    await copy.loop_results(scope.kept, numbers)
    await copy.calls(scope.kept)
    await copy.answered_questions()
    await copy.rows(guidance, guidance.c.accepted_at.is_not(None), without=("id",))


async def same_evidence(db: Database, job_id: str, numbers: Sequence[int]) -> dict[int, str]:
    """Return this evidence of a job, and all of the same words, each with its task.

    Raises:
        NotFound: the job has no such evidence.
    """
    named, same = evidence.alias("named"), evidence.alias("same")
    place = ("job_id", "source_id", "start_char", "end_char")
    query = (
        select(named.c.id.label("number"), same.c.id, same.c.task_id)
        .join(same, and_(*(named.c[name] == same.c[name] for name in place)))
        .where(named.c.job_id == job_id, named.c.id.in_(numbers))
        .order_by(same.c.id)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    known = {row.number for row in rows}
    if missing := [each for each in numbers if each not in known]:
        raise NotFound(
            f"job {job_id} has no evidence {missing[0]}; `holdfast trace {job_id} MARK` "
            "prints the number of the evidence of a mark",
            field="retract",
        )
    return {row.id: row.task_id for row in rows}


async def forks_of(db: Database, job_id: str) -> list[str]:
    """Return the jobs that began from this job, oldest first."""
    parent = jobs.c.fork["job"].astext
    query = select(jobs.c.id).where(jobs.c.fork.is_not(None), parent == job_id)
    async with db.reading() as connection:
        return list((await connection.execute(query.order_by(jobs.c.created_at))).scalars())


class _Copy:
    """The rows of one job, copied to another."""

    def __init__(self, write: JobTransaction, origin: str) -> None:
        self._write, self._origin = write, origin

    async def plan(self, scope: KeptTasks) -> None:
        await self.rows(plan_changes, true())
        # Positions have no gaps, and a fork leaves out steps.
        position = func.row_number().over(order_by=tasks.c.position)
        of_fork = tasks.c.id.in_((*scope.kept, *scope.pending))
        await self.rows(tasks, of_fork, changed={"position": position})
        await self._write.connection.execute(
            update(tasks)
            .where(tasks.c.job_id == self._write.job_id, tasks.c.id.in_(scope.pending))
            .values({**_NOT_BEGUN, "notes": REPAIR_NOTE})
        )
        same = ("plan_changes", "depth", "breadth")
        query = select(*(jobs.c[name] for name in same)).where(jobs.c.id == self._origin)
        row = (await self._write.connection.execute(query)).one()
        await self._write.set(**{name: getattr(row, name) for name in same})

    async def evidence(self, scope: KeptTasks) -> dict[int, int]:
        """Copy the evidence; return the new number of each piece by its old number."""
        is_retracted = or_(
            evidence.c.status == EvidenceStatus.RETRACTED.value,
            evidence.c.id.in_(scope.retracted),
        )
        found = select(evidence.c.id).where(
            evidence.c.job_id == self._origin, or_(evidence.c.task_id.in_(scope.kept), is_retracted)
        )
        old = list((await self._write.connection.execute(found.order_by(evidence.c.id))).scalars())
        sequence = func.pg_get_serial_sequence("evidence", "id")
        drawn = select(func.nextval(sequence)).select_from(func.generate_series(1, len(old)))
        new = sorted((await self._write.connection.execute(drawn)).scalars()) if old else []
        numbers = dict(zip(old, new, strict=True))
        kept = [each for each in evidence.c if each.name not in ("id", "job_id")]
        query = select(evidence.c.id, *kept).where(evidence.c.id.in_(old))
        rows = (await self._write.connection.execute(query)).mappings().all()
        copies = []
        for row in sorted(rows, key=lambda row: int(row["id"])):
            of_fork = {"id": numbers[row["id"]], "job_id": self._write.job_id}
            if row["task_id"] not in scope.kept:
                # The step that found it is left out; its agent task must not find it again.
                of_fork["task_id"] = scope.owners.get(row["task_id"], row["task_id"])
            if row["id"] in scope.retracted:
                of_fork["status"] = EvidenceStatus.RETRACTED.value
            copies.append({**row, **of_fork})
        if copies:
            await self._write.connection.execute(insert(evidence), copies)
        return numbers

    async def loop_results(self, kept: Sequence[str], numbers: Mapping[int, int]) -> None:
        """Copy the proven answers, whose sentences name the evidence by its number."""
        query = select(loop_results).where(
            loop_results.c.job_id == self._origin, loop_results.c.task_id.in_(kept)
        )
        for row in (await self._write.connection.execute(query)).mappings().all():
            body = renumbered(LoopResult.model_validate(row["body"]), numbers)
            values = {**row, "job_id": self._write.job_id, "body": body.model_dump(mode="json")}
            await self._write.connection.execute(insert(loop_results).values(values))

    async def calls(self, kept: Sequence[str]) -> None:
        """Copy the answered calls of the planner and the kept tasks: each quote leads to a call."""
        for table, unspent in ((model_calls, _UNSPENT), (tool_calls, _UNSENT)):
            is_kept: ColumnElement[bool] = table.c.task_id.in_(kept)
            if table is model_calls:
                is_kept = or_(is_kept, model_calls.c.role == RoleName.PLANNER.value)
            is_answered = and_(is_kept, table.c.status == CallStatus.DONE.value)
            # The call that was paid for, also if the forked job is a fork itself.
            paid = func.coalesce(table.c.origin_call_id, table.c.id)
            changed = {**unspent, "origin_call_id": paid}
            await self.rows(table, is_answered, without=("id",), changed=changed)
        old, new = tool_calls.alias("old"), tool_calls.alias("new")
        same = ("task_id", "attempt", "tool", "part", "request_hash")
        of_same_call = and_(
            new.c.job_id == self._write.job_id, *(new.c[name] == old.c[name] for name in same)
        )
        names = ["sha256", "media_type", "title", "caption", "data"]
        of_calls = (
            select(literal(self._write.job_id), new.c.id, *(figures.c[name] for name in names))
            .select_from(figures)
            .join(old, old.c.id == figures.c.call_id)
            .join(new, of_same_call)
            .where(figures.c.job_id == self._origin)
        )
        columns = ["job_id", "call_id", *names]
        await self._write.connection.execute(insert(figures).from_select(columns, of_calls))

    async def answered_questions(self) -> None:
        """Copy what people answered to agents: the same question is not asked twice."""
        is_answered = and_(
            questions.c.kind == QuestionKind.QUESTION.value,
            questions.c.status == QuestionStatus.ANSWERED.value,
        )
        await self.rows(questions, is_answered, without=("id",))

    async def rows(
        self,
        table: Table,
        where: ColumnElement[bool],
        *,
        without: Sequence[str] = (),
        changed: Mapping[str, Any] | None = None,
    ) -> None:
        """Copy rows of the forked job, with changed columns; `without` columns have defaults."""
        given = {"job_id": self._write.job_id, **(changed or {})}
        columns = [each for each in table.c if each.name not in without]
        values = [_value(each, given) for each in columns]
        copied = select(*values).where(table.c.job_id == self._origin, where)
        names = [each.name for each in columns]
        await self._write.connection.execute(insert(table).from_select(names, copied))


def _value(column: Any, given: Mapping[str, Any]) -> ColumnElement[Any]:  # noqa: ANN401 - any type of column
    if column.name not in given:
        return column  # type: ignore[no-any-return]  # the column itself
    value = given[column.name]
    return value if isinstance(value, ColumnElement) else literal(value, column.type)


def renumbered(result: LoopResult, numbers: Mapping[int, int]) -> LoopResult:
    """Return the result with the new numbers of its evidence; a number without one is left out."""
    sentences = tuple(
        each.model_copy(
            update={"evidence_ids": tuple(numbers[n] for n in each.evidence_ids if n in numbers)}
        )
        for each in result.sentences
    )
    return result.model_copy(update={"sentences": sentences})
