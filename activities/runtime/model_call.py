"""Call a model through the call ledger: a recorded answer is reused and never paid for twice."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Self, TypeAlias, TypeVar

from pydantic import BaseModel, JsonValue

from holdfast.activities.runtime.activity_services import ModelRegistry, Services
from holdfast.activities.runtime.call_progress_record import recorded_progress
from holdfast.activities.runtime.interceptors.lost_attempt_interceptor import end_if_given_up
from holdfast.activities.runtime.interceptors.recovery_interceptor import current_recovery_id
from holdfast.activities.runtime.model_admission import ModelAdmission
from holdfast.models.budget.spend_breakdown import Phase
from holdfast.models.calls.call_records import CallKey, ReservationRequest
from holdfast.models.calls.model_requests import Completion, ModelRequest
from holdfast.models.errors import (
    BudgetReached,
    HoldfastError,
    MalformedReply,
    ModelBusy,
    ModelPaused,
    ModelTurnAwaited,
    ModelUnusable,
)
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.activity_orders import AttemptOrder
from holdfast.models.jobs.event_mark import EventMark
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import (
    EXTRACTIVE_MODEL,
    LEAST_TRANSCRIPT_TOKENS,
    Strategy,
)
from holdfast.models.text.storable_text import storable_text
from holdfast.models.wire import call_places
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.budget.role_phases import phase_of
from holdfast.planning.text.token_estimates import request_tokens
from holdfast.roles.dialogue.model_dialogue import DialogueResult, ask_role, hold_dialogue
from holdfast.roles.dialogue.recorded_content import (
    asks_the_same,
    has_same_content,
    recorded_task,
    with_release_fields_of,
)
from holdfast.roles.dialogue.role_definition import Role
from holdfast.storage.ledger.call_ledger import CallLedger, LedgerEntry
from holdfast.storage.ledger.earlier_attempts import EarlierAttempts

MOST_MALFORMED_REPLIES = 5
"""Replies to one request that may be no chat completion; the pauses between them make 15 s."""

IsSame: TypeAlias = Callable[..., bool]
"""True if the answer to a recorded request also answers `request`."""
TaskT = TypeVar("TaskT", bound=Frozen)
AnswerT = TypeVar("AnswerT", bound=BaseModel)


@dataclass
class ModelCaller:
    """The model calls of one activity: their place in the job, and the tokens spent so far."""

    ledger: CallLedger
    models: ModelRegistry
    model: str
    strategy: Strategy
    job_id: str
    epoch: int
    seen: EventMark | None = None
    task_id: str = ""
    attempt: int = 1
    plays_all_roles: bool = False
    """True if `model` is an agent's own, which plays whatever the strategy says of roles."""
    tokens: int = field(default=0, init=False)
    answered_by: str = field(default="", init=False)
    """The model of the last answer."""

    @classmethod
    def of(
        cls,
        services: Services,
        order: AttemptOrder,
        request: JobRequest,
        place: str,
        *,
        model: str = "",
        may_wait: bool = False,
        earlier_attempts: EarlierAttempts | None = None,
    ) -> Self:
        """The caller of one attempt; `place` is the task, or the label of its calls in the ledger.

        `model` is an agent's own model; empty lets the strategy choose one for each role. A ledger
        that may wait writes the beginning of a call together with its answer if nothing is lost.
        `earlier_attempts`: a reopened job does not pay again for what these have answered.
        """
        return cls(
            ledger=CallLedger(
                services.db,
                may_wait=may_wait,
                recovery=current_recovery_id(),
                origins=request.origins_of(place),
                is_frozen=request.is_frozen,
                earlier_attempts=earlier_attempts,
            ),
            models=services.models,
            model=model or request.model,
            strategy=request.strategy,
            job_id=order.job_id,
            epoch=order.epoch,
            seen=order.seen,
            task_id=place,
            attempt=order.attempt,
            plays_all_roles=bool(model),
        )

    def model_of(self, role: str) -> str:
        """Return the model that plays the role."""
        return self.model if self.plays_all_roles else self.strategy.model_of_role(role, self.model)

    @property
    def transcript_tokens(self) -> int:
        """The most tokens of a loop's transcript: those of the setting that the model has room for.

        A model without room for the least transcript refuses the loop's request by its length.
        """
        room = self.models.transcript_room(self.model_of(RoleName.LOOP_AGENT.value))
        limit = self.strategy.transcript_tokens
        return limit if room is None else min(limit, max(room, LEAST_TRANSCRIPT_TOKENS))

    async def ask(
        self,
        role: Role[TaskT, AnswerT],
        task: TaskT,
        *,
        place: str = "",
        check: Callable[[AnswerT], Sequence[str]] | None = None,
    ) -> DialogueResult[AnswerT]:
        """Return the role's answer; an invalid answer is sent back up to `plan_tries` times.

        `place` distinguishes parallel calls of one role, such as those for chunks.

        Raises:
            Passing: the model is busy; the ledger keeps the calls that were answered.
            BudgetReached: the job's cap leaves no room for the next call.
            Lasting: the model refused.
        """

        async def send(request: ModelRequest, part: int) -> Completion:
            is_same = partial(asks_the_same, role)
            return await self._send(is_same, request, call_places.call_part(place, part))

        return await ask_role(
            role,
            task,
            model_name=self.model_of(role.name),
            send=send,
            tries=self.strategy.plan_tries,
            check=check,
        )

    async def hold_dialogue(
        self,
        request: ModelRequest,
        answer_type: type[AnswerT],
        *,
        place: str,
        check: Callable[[AnswerT], Sequence[str]] | None = None,
    ) -> DialogueResult[AnswerT]:
        """Return the valid answer to a request with several messages; see `ask`.

        Raises:
            As `ask`.
        """

        async def send(part_request: ModelRequest, part: int) -> Completion:
            return await self._send(
                _has_the_same_messages, part_request, call_places.call_part(place, part)
            )

        return await hold_dialogue(
            request, answer_type, send=send, tries=self.strategy.plan_tries, check=check
        )

    async def recorded_task(
        self, role: Role[TaskT, AnswerT], task: TaskT, *, place: str = ""
    ) -> TaskT:
        """Reuse the prompt of the crashed attempt, so that its recorded answer is found.

        Needed for prompts with changing content, such as the plan's statuses: another prompt would
        be another request, and its answer would be paid for twice.
        """
        words = await self.ledger.first_prompt(
            self.job_id, self.task_id, self.attempt, role.name, call_places.call_part(place, 1)
        )
        recorded = None if words is None else recorded_task(role, words)
        return task if recorded is None else with_release_fields_of(task, recorded)

    async def task_before_guidance(
        self, role: Role[TaskT, AnswerT], task: TaskT, *, place: str = ""
    ) -> TaskT:
        """Reuse the prompt of the crashed attempt, if only the guidance has changed since.

        Other changes, such as evidence that was retracted meanwhile, have to be judged.
        """
        recorded = await self.recorded_task(role, task, place=place)
        guided = recorded.model_copy(update={"guidance": getattr(task, "guidance", ())})
        return recorded if has_same_content(guided, task) else task

    async def written_by(self) -> str:
        """Return the model of the last answer, with the others if a fallback was used."""
        stand_ins = await self.ledger.stand_in_models(self.job_id)
        others = " and ".join(name for name in stand_ins if name != self.answered_by)
        return f"{self.answered_by}, with {others}" if others else self.answered_by

    async def _send(self, is_same: IsSame, request: ModelRequest, part: str) -> Completion:
        """Return the reply of the request's model, or of the fallback if it is busy too long.

        A report without room in the budget is written by the built-in model, at no cost.

        Raises:
            BudgetReached: the job's cap leaves no room for the call, and it was not made.
            CancelledError: Temporal has given the attempt up.
        """
        end_if_given_up()
        key = self._key(request, part)
        try:
            opened = await self.ledger.open_model_call(
                key,
                request,
                self._expense(request),
                is_same=partial(is_same, request=request),
            )
        except BudgetReached:
            if not _is_report(request):
                raise
            return await self._send(is_same, _addressed_to(request, EXTRACTIVE_MODEL), part)
        if isinstance(opened.answer, Completion):
            return self._counted(request, opened.answer)
        instead = self._fallback(request)
        if opened.refusal is None or instead is None:
            try:
                return await self._completed(request, key, opened)
            except ModelBusy as busy:
                if instead is None:
                    raise _lasting_after_many(busy) from None
                if not _is_malformed_again(busy):
                    await self._raise_while_busy_may_end(busy, opened.row_id)
                facts = _fallback_facts(request, instead, busy)
                await self.ledger.record_fallback(key, opened.row_id, self.epoch, facts)
        return await self._send(is_same, instead, part)

    async def _completed(
        self, request: ModelRequest, key: CallKey, opened: LedgerEntry
    ) -> Completion:
        row_id, admission = opened.row_id, ModelAdmission(self.ledger.db, self.models)
        try:
            async with recorded_progress(self.ledger, opened) as progress:
                completion = await admission.complete(request, row_id, opened.pause, progress)
        except (ModelTurnAwaited, ModelPaused) as wait:
            await self.ledger.withhold_model_call(key, row_id, self.epoch, request.model, wait)
            raise
        except asyncio.CancelledError:
            # Calls next to it would have to keep room for an answer that no longer comes.
            await self.ledger.cut_model_call(row_id)
            raise
        except HoldfastError as error:
            is_malformed = isinstance(error, MalformedReply)
            malformed = await self.ledger.fail_model_call(
                row_id, str(error), kind=type(error).__name__, is_malformed=is_malformed
            )
            if isinstance(error, MalformedReply):
                error.replies = malformed
            raise
        completion = _storable_completion(completion)
        await self.ledger.close_model_call(row_id, completion, self._cost(request, completion))
        return self._counted(request, completion)

    async def _raise_while_busy_may_end(self, busy: ModelBusy, row_id: int) -> None:
        """Raise the error, so that Temporal tries again, while waiting for the model is allowed."""
        left = self.strategy.fallback_after - await self.ledger.failing_duration(row_id)
        if left > timedelta(0):
            # The model may ask for a longer wait; the fallback is called after our limit.
            busy.after = busy.after and min(busy.after, left)
            raise busy

    def _key(self, request: ModelRequest, part: str) -> CallKey:
        return CallKey(
            job_id=self.job_id,
            task_id=self.task_id,
            attempt=self.attempt,
            part=part,
            request_hash=request.hash,
        )

    def _fallback(self, request: ModelRequest) -> ModelRequest | None:
        """Return the request to the fallback model, if there is another one."""
        name = self.strategy.fallback_model
        if not name or name == request.model:
            return None
        return _addressed_to(request, name)

    def _expense(self, request: ModelRequest) -> ReservationRequest | None:
        """Return the reservation for the call if the job has a cap; the built-in model is free."""
        if request.model == EXTRACTIVE_MODEL or not self.strategy.is_capped:
            return None
        expense = ReservationRequest(
            input_tokens=request_tokens(request),
            price=self.models.prices.of(request.model),
            is_report=_is_report(request),
        )
        longest = self.models.longest_reply(request.model)
        if longest is None:
            return expense
        return expense.model_copy(update={"longest_output_tokens": longest})

    def _cost(self, request: ModelRequest, completion: Completion) -> Decimal | None:
        price = self.models.prices.of(request.model)
        if price is None:
            return None
        return price.of(
            input_tokens=completion.input_tokens,
            output_tokens=completion.output_tokens,
            cached_tokens=completion.cached_tokens,
        )

    def _counted(self, request: ModelRequest, completion: Completion) -> Completion:
        self.answered_by = request.model
        self.tokens += completion.input_tokens + completion.output_tokens
        return completion


def total_tokens(*callers: ModelCaller | None) -> int:
    """Return the tokens of all these callers; None called nobody."""
    return sum(caller.tokens for caller in callers if caller is not None)


def _is_malformed_again(busy: ModelBusy) -> bool:
    """True if so many replies were malformed that the next one would be as well."""
    return isinstance(busy, MalformedReply) and busy.replies >= MOST_MALFORMED_REPLIES


def _lasting_after_many(busy: ModelBusy) -> HoldfastError:
    """Return the error itself, or a lasting one after too many malformed replies."""
    if not _is_malformed_again(busy):
        return busy
    return ModelUnusable(f"{busy} ({MOST_MALFORMED_REPLIES} replies were of this kind)")


def _has_the_same_messages(recorded: ModelRequest, request: ModelRequest) -> bool:
    """True if the same transcript was sent: a release may only describe functions otherwise."""
    return (recorded.model, recorded.messages) == (request.model, request.messages)


def _is_report(request: ModelRequest) -> bool:
    return phase_of(request.role) is Phase.SYNTHESIS


def _addressed_to(request: ModelRequest, name: str) -> ModelRequest:
    """Return the same request for another model."""
    # Not `model_copy`, which would keep the cached hash and so the ledger's key.
    return ModelRequest.model_construct(**(dict(request) | {"model": name}))


def _fallback_facts(
    request: ModelRequest, instead: ModelRequest, why: ModelBusy
) -> dict[str, JsonValue]:
    return {
        "role": request.role,
        "from": request.model,
        "to": instead.model,
        "reason": str(why)[:500],
    }


def _storable_completion(completion: Completion) -> Completion:
    """Return the reply as the ledger stores it, so that a repeated dialogue is identical."""
    refusal = completion.refusal and storable_text(completion.refusal)
    return completion.model_copy(
        update={
            "text": storable_text(completion.text),
            "model": storable_text(completion.model),
            "finish": storable_text(completion.finish),
            "refusal": refusal,
        }
    )
