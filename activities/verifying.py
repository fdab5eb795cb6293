"""A round of verification: every result that was not complete, then the stop conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from activities import interfaces
from activities.asking import Desk
from activities.interfaces import implements
from activities.judging import Judged, faults, judged, question_of, unjudged
from activities.parts import Models, Requests
from activities.rounds import Round, load_round
from activities.together import side_by_side
from models.errors import BadConfiguration, Lasting, ModelRefused
from models.jobs import StopReason
from models.orders import RoundOrder
from models.questions import OpenQuestion
from models.state import Halt, RoundReceipt
from models.verification import Recommendation, StopCheck, Verification
from planning import stopping
from planning.contradictions import reviewed
from planning.verdicts import in_force
from roles.verifier import VERIFIER
from storage import attempts, escalations, receipts, verifications
from storage.database import Database, JobWrite
from storage.plans import StoredTask
from storage.spending import tokens_of


def key_of(iteration: int) -> str:
    """The key of a round's receipt, and the place of its calls in the ledger."""
    return f"verify:{iteration}"


@dataclass(frozen=True)
class Verifying:
    """The activity that verifies."""

    db: Database
    models: Models
    requests: Requests

    @implements(interfaces.verify_results)
    async def verify_results(self, order: RoundOrder) -> RoundReceipt:
        key = key_of(order.iteration)
        stored = await receipts.find(self.db, order, key, RoundReceipt)
        if stored is not None:
            return stored
        request = await self.requests.of(order)
        known = await load_round(self.db, order.job_id, request)
        standing = {each.task.id: known.standing(each) for each in known.tasks}
        to_ask = [each for each in known.tasks if standing[each.task.id] is None]
        try:
            answers = await side_by_side(
                [partial(self._judge, order, known, each) for each in to_ask],
                at_once=known.request.strategy.slots,
            )
        except (ModelRefused, BadConfiguration) as error:
            return await self._halt(order, error)
        fresh = standing | {each.verdict.task_id: each.verdict for each in answers}
        return await self._store(order, known, _all(known, fresh), answers)

    async def _judge(self, order: RoundOrder, known: Round, stored: StoredTask) -> Judged:
        name, request = stored.task.id, known.request
        verifier = request.strategy.verifier_model or ""
        # One per result: they are asked side by side, and each knows who answered it.
        desk = Desk.of(
            self.db, self.models, order, request, key_of(order.iteration), model=verifier
        )
        dispute = known.dispute_of(name)
        task = question_of(stored, request.question, known.sub_questions, known.findings, dispute)
        try:
            asked = await desk.ask(
                VERIFIER, task, place=name, check=lambda answer: faults(answer, task)
            )
        except (ModelRefused, BadConfiguration):
            raise
        except Lasting as error:
            # Of this result alone, as one that is too long for the model's context.
            return unjudged(stored, str(error), desk.model, desk.tokens)
        if asked.answer is None:
            return unjudged(stored, "; ".join(asked.faults), desk.answered_by, desk.tokens)
        return judged(stored, asked.answer, dispute, desk.answered_by, desk.tokens)

    async def _store(
        self,
        order: RoundOrder,
        known: Round,
        fresh: Sequence[Verification],
        answers: Sequence[Judged],
    ) -> RoundReceipt:
        chosen = [in_force(known.before.get(each.task_id), each) for each in fresh]
        settlements = [each.settlement for each in answers if each.settlement]
        verdicts = reviewed(chosen, known.before, settlements, known.repairs)
        async with self.db.reading() as connection:
            spent = await tokens_of(connection, order.job_id)
        line = stopping.check(
            known.request.strategy,
            known.ledger,
            verdicts,
            iteration=order.iteration,
            tokens=spent.input + spent.output,
        )
        async with self.db.job(order.job_id, order.epoch) as write:
            await receipts.not_yet(write, key_of(order.iteration))
            await attempts.snapshot(write, [each.task.id for each in known.tasks])
            for verdict, own in zip(verdicts, fresh, strict=True):
                await _weigh(write, verdict, own)
            await verifications.keep_round(write, verdicts, line)
            _note_check(write, line)
            asks = await self._escalate(write, known, verdicts, line)
            receipt = RoundReceipt(
                iteration=order.iteration,
                stop=line.fired,
                asks=asks,
                tokens=sum(each.tokens for each in answers),
            )
            await receipts.keep(write, key_of(order.iteration), receipt)
            return receipt

    async def _escalate(
        self,
        write: JobWrite,
        known: Round,
        verdicts: Sequence[Verification],
        line: StopCheck,
    ) -> tuple[OpenQuestion, ...]:
        """A question for each verdict of this round that only a person can give."""
        strategy = known.request.strategy
        if line.fired is not None or not strategy.questions:
            return ()
        words = {each.id: each.description for each in known.sub_questions}
        deadline = datetime.now(UTC) + strategy.question_deadline
        asks = [
            await escalations.escalate(write, each, words[each.task_id], deadline)
            for each in verdicts
            if each.recommendation is Recommendation.ESCALATE
            and not each.is_carried
            and not _has_ruling(known, each)
        ]
        return tuple(each for each in asks if each is not None)

    async def _halt(self, order: RoundOrder, error: Lasting) -> RoundReceipt:
        message = f"the verifier's model call failed: {error}"[:4000]
        halt = Halt(reason=StopReason.MODEL_REFUSED, message=message)
        receipt = RoundReceipt(iteration=order.iteration, halt=halt)
        async with self.db.job(order.job_id, order.epoch) as write:
            write.event("verification.refused", message=message[:2000])
            # Of this run alone: a key that is refused today may be accepted by the next run.
            key = receipts.of_run(key_of(order.iteration), order.epoch)
            await receipts.keep(write, key, receipt)
        return receipt


def _all(known: Round, fresh: Mapping[str, Verification | None]) -> tuple[Verification, ...]:
    """This round's verdict on each sub-question, in order of the plan."""
    found = (fresh[each.task.id] for each in known.tasks)
    return tuple(each for each in found if each is not None)


def _has_ruling(known: Round, verdict: Verification) -> bool:
    ruling = known.rulings.get(verdict.task_id)
    return ruling is not None and ruling.attempt == verdict.attempt


async def _weigh(write: JobWrite, verdict: Verification, own: Verification) -> None:
    """Let the better attempt be what the task found; say what this round saw of it."""
    if own.attempt > 1 and not own.is_carried:
        await attempts.choose(write, verdict.task_id, verdict.attempt)
    if verdict.is_carried:
        return
    write.event(
        "verified",
        verdict.task_id,
        status=own.status.value,
        completeness=own.completeness,
        confidence=own.confidence,
        missing=len(own.missing),
        contradictions=len(verdict.contradictions),
        recommendation=own.recommendation.value,
        attempt=own.attempt,
        kept=verdict.attempt,
        model=own.model,
    )


def _note_check(write: JobWrite, line: StopCheck) -> None:
    write.event(
        "stop.checked",
        iteration=line.iteration,
        complete=line.complete,
        total=line.total,
        confidence=line.confidence,
        tokens=line.tokens,
        fired=line.fired.value if line.fired else None,
        seen=[each.seen for each in line.conditions],
    )
