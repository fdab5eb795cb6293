"""Run a verification round: verify results without a final verdict, and check stop conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.runtime.activity_frame import ReceiptScope, Record, Recorded, work_once
from holdfast.activities.runtime.activity_services import Services
from holdfast.activities.runtime.bounded_gather import gather_bounded
from holdfast.activities.runtime.halt_from_error import halt_of_error
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.activities.verification.verification_inputs import (
    VerificationInputs,
    load_verification_inputs,
)
from holdfast.models.errors import BadConfiguration, Lasting, ModelRefused
from holdfast.models.jobs.activity_orders import VerificationRoundOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.jobs.job_state import VerificationRoundReceipt
from holdfast.models.questions.user_questions import OpenQuestion
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.models.verification.verification_verdicts import (
    Recommendation,
    StopLogEntry,
    Verification,
)
from holdfast.models.verification.verifier_messages import VerifierTask
from holdfast.models.wire import call_places, stored_keys
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.verification import stop_conditions
from holdfast.planning.verification.contradiction_rules import review_contradictions
from holdfast.planning.verification.verdict_and_retry_rules import effective_verdict
from holdfast.planning.verification.verifier_answer_to_verdict import (
    ResultVerdict,
    tasks_by_result,
    verdict_faults,
    verdict_from_answer,
    verdict_without_answer,
    verdicts_by_result,
    verifier_tasks,
)
from holdfast.roles.verification.verifier import VERIFIER
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.evidence import verification_rows
from holdfast.storage.jobs.job_control_rows import guidance_of
from holdfast.storage.ledger.earlier_attempts import EarlierAttempts
from holdfast.storage.ledger.spending_queries import tokens_of
from holdfast.storage.plans import attempt_result_rows
from holdfast.storage.questions import escalation_rows


@dataclass(frozen=True)
class VerificationActivities:
    """The activity that verifies."""

    services: Services

    @implements(interfaces.verify_results)
    async def verify_results(self, order: VerificationRoundOrder) -> VerificationRoundReceipt:
        key = stored_keys.verification_receipt(order.round)
        work = partial(self._work, order)
        return await work_once(self.services.db, order, key, VerificationRoundReceipt, work)

    async def _work(self, order: VerificationRoundOrder) -> Record[VerificationRoundReceipt]:
        request = await self.services.requests.of(order)
        inputs = await load_verification_inputs(self.services.db, order.job_id, request)
        standing = {stored.task.id: inputs.standing(stored) for stored in inputs.tasks}
        unverified = [stored for stored in inputs.tasks if standing[stored.task.id] is None]
        try:
            answers = await self._judge_all(order, inputs, unverified)
        except (ModelRefused, BadConfiguration) as error:
            return partial(_record_halt, order, error)
        verdicts = standing | {answer.verdict.task_id: answer.verdict for answer in answers}
        fresh = _verdicts_in_plan_order(inputs, verdicts)
        return await self._closed_round(order, inputs, fresh, answers)

    async def _judge_all(
        self,
        order: VerificationRoundOrder,
        inputs: VerificationInputs,
        unverified: Sequence[StoredTask],
    ) -> list[ResultVerdict]:
        """The verdicts of one round, which one call gives unless there is too much to read."""
        setting = await self.services.setting_of(order)
        tasks = verifier_tasks(
            inputs.request.question_in_context,
            setting,
            [inputs.result_of(stored) for stored in unverified],
            inputs.other_results(each.task.id for each in unverified),
            await guidance_of(self.services.db, order.job_id),
        )
        batches = await gather_bounded(
            [
                partial(self._judge, order, inputs, task, call_places.chunk_place(n, len(tasks)))
                for n, task in enumerate(tasks, start=1)
            ],
            at_once=inputs.request.strategy.slots,
        )
        return [answer for batch in batches for answer in batch]

    async def _judge(
        self,
        order: VerificationRoundOrder,
        inputs: VerificationInputs,
        task: VerifierTask,
        place: str,
    ) -> list[ResultVerdict]:
        # One caller per call: they run in parallel, and a caller keeps who answered.
        caller = self._model_caller(order, inputs.request)
        task = await caller.task_before_guidance(VERIFIER, task, place=place)
        try:
            dialogue = await caller.ask(
                VERIFIER,
                task,
                place=place,
                check=lambda answer: verdict_faults(answer, task),
            )
        except (ModelRefused, BadConfiguration):
            raise
        except Lasting as error:
            if len(task.results) > 1:
                return await self._judge_one_by_one(order, inputs, task, caller.tokens)
            # Only this result has no verdict, for example one too long for the model's context.
            return _without_answer(inputs, task, str(error), caller.model_of(VERIFIER.name), caller)
        if dialogue.answer is None and len(task.results) > 1:
            return await self._judge_one_by_one(order, inputs, task, caller.tokens)
        if dialogue.answer is None:
            return _without_answer(
                inputs, task, "; ".join(dialogue.faults), caller.answered_by, caller
            )
        verdicts = verdicts_by_result(dialogue.answer, task)
        return [
            verdict_from_answer(
                inputs.stored(each.id),
                verdicts[each.id],
                inputs.dispute_of(each.id),
                caller.answered_by,
                0 if at else caller.tokens,
            )
            for at, each in enumerate(task.results)
        ]

    async def _judge_one_by_one(
        self,
        order: VerificationRoundOrder,
        inputs: VerificationInputs,
        task: VerifierTask,
        spent: int,
    ) -> list[ResultVerdict]:
        """The verdicts after a call with all results failed, or never gave a valid answer.

        `spent` are the tokens of that call, which count with those of the first verdict.
        """
        batches = await gather_bounded(
            [
                partial(self._judge, order, inputs, each, each.results[0].id)
                for each in tasks_by_result(task)
            ],
            at_once=inputs.request.strategy.slots,
        )
        first, *others = (answer for batch in batches for answer in batch)
        return [first.model_copy(update={"tokens": first.tokens + spent}), *others]

    def _model_caller(self, order: VerificationRoundOrder, request: JobRequest) -> ModelCaller:
        label = stored_keys.verification_receipt(order.round)
        return ModelCaller.of(
            self.services, order, request, label, earlier_attempts=EarlierAttempts()
        )

    async def _closed_round(
        self,
        order: VerificationRoundOrder,
        inputs: VerificationInputs,
        fresh: Sequence[Verification],
        answers: Sequence[ResultVerdict],
    ) -> Record[VerificationRoundReceipt]:
        """Check the stop conditions, and return the function that records the round."""
        chosen = [effective_verdict(inputs.before.get(own.task_id), own) for own in fresh]
        settlements = [answer.settlement for answer in answers if answer.settlement]
        verdicts = review_contradictions(chosen, inputs.before, settlements, inputs.repairs)
        async with self.services.db.reading() as connection:
            spent = await tokens_of(connection, order.job_id)
        entry = stop_conditions.check_stop_conditions(
            inputs.request.strategy,
            inputs.before,
            verdicts,
            round_=order.round,
            tokens=spent.input + spent.output,
        )
        tokens = sum(answer.tokens for answer in answers)
        return partial(_record_round, _Round(inputs, fresh, verdicts, entry, tokens))


def _without_answer(
    inputs: VerificationInputs, task: VerifierTask, why: str, model: str, caller: ModelCaller
) -> list[ResultVerdict]:
    """The verdicts of results on which the verifier said nothing valid."""
    return [
        verdict_without_answer(inputs.stored(each.id), why, model, 0 if at else caller.tokens)
        for at, each in enumerate(task.results)
    ]


@dataclass(frozen=True)
class _Round:
    """A verification round to be recorded."""

    inputs: VerificationInputs
    fresh: Sequence[Verification]
    """This round's verdict on each sub-question."""
    verdicts: Sequence[Verification]
    """The verdicts that count; an earlier attempt's verdict may be better than the fresh one."""
    entry: StopLogEntry
    tokens: int


async def _record_round(round_: _Round, tx: JobTransaction) -> Recorded[VerificationRoundReceipt]:
    inputs, entry = round_.inputs, round_.entry
    await attempt_result_rows.keep_current_results(tx, [stored.task.id for stored in inputs.tasks])
    for verdict, own in zip(round_.verdicts, round_.fresh, strict=True):
        await _choose_attempt(tx, verdict, own)
    await verification_rows.keep_round(tx, round_.verdicts, entry)
    _record_stop_check(tx, entry)
    questions = await _escalate(tx, round_)
    receipt = VerificationRoundReceipt(
        round=entry.round, stop=entry.fired, questions=questions, tokens=round_.tokens
    )
    return Recorded(receipt)


async def _escalate(tx: JobTransaction, round_: _Round) -> tuple[OpenQuestion, ...]:
    """Ask a person for each verdict of this round that only a person can give."""
    strategy = round_.inputs.request.strategy
    if round_.entry.fired is not None or not strategy.questions:
        return ()
    words = {task.id: task.description for task in round_.inputs.sub_questions}
    deadline = datetime.now(UTC) + strategy.question_deadline
    questions = [
        await escalation_rows.ask_escalation(tx, verdict, words[verdict.task_id], deadline)
        for verdict in round_.verdicts
        if verdict.recommendation is Recommendation.ESCALATE
        and not verdict.is_carried_over
        and not _has_ruling(round_.inputs, verdict)
    ]
    return tuple(question for question in questions if question is not None)


async def _record_halt(
    order: VerificationRoundOrder, error: Lasting, tx: JobTransaction
) -> Recorded[VerificationRoundReceipt]:
    halt = halt_of_error(error, "the verifier's model call failed")
    tx.event(EventKind.VERIFICATION_REFUSED, message=cut_message(halt.message, MessageLimit.ENTRY))
    receipt = VerificationRoundReceipt(round=order.round, halt=halt)
    return Recorded(receipt, ReceiptScope.RUN)


def _verdicts_in_plan_order(
    inputs: VerificationInputs, fresh: Mapping[str, Verification | None]
) -> tuple[Verification, ...]:
    """This round's verdict on each sub-question, in order of the plan."""
    verdicts = (fresh[stored.task.id] for stored in inputs.tasks)
    return tuple(verdict for verdict in verdicts if verdict is not None)


def _has_ruling(inputs: VerificationInputs, verdict: Verification) -> bool:
    ruling = inputs.rulings.get(verdict.task_id)
    return ruling is not None and ruling.attempt == verdict.attempt


async def _choose_attempt(tx: JobTransaction, verdict: Verification, own: Verification) -> None:
    """Make the better attempt the task's result, and record this round's verdict."""
    if own.attempt > 1 and not own.is_carried_over:
        await attempt_result_rows.choose_attempt(tx, verdict.task_id, verdict.attempt)
    if verdict.is_carried_over:
        return
    tx.event(
        EventKind.TASK_VERIFIED,
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


def _record_stop_check(tx: JobTransaction, entry: StopLogEntry) -> None:
    tx.event(
        EventKind.STOP_CHECKED,
        round=entry.round,
        complete=entry.complete,
        total=entry.total,
        confidence=entry.confidence,
        tokens=entry.tokens,
        fired=entry.fired.value if entry.fired else None,
        seen=[condition.seen for condition in entry.conditions],
    )
