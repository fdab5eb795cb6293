"""Asking a model through the ledger: a reply that came back once is never paid for again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Self, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from activities.parts import Models
from activities.recovery import current_recovery
from models.base import Frozen
from models.calls import CallKey, Expense
from models.completions import Completion, ModelRequest
from models.errors import BudgetReached, HoldfastError, ModelBusy
from models.jobs import EXTRACTIVE, JobRequest
from models.orders import WorkOrder
from models.spending import Phase
from models.strategy import Strategy
from planning.phases import phase_of
from planning.tokens import request_tokens
from planning.values import storable_text
from roles.base import Role
from roles.dialogue import Asked, ask
from storage.database import Database
from storage.ledger import Ledger

TaskT = TypeVar("TaskT", bound=Frozen)
AnswerT = TypeVar("AnswerT", bound=BaseModel)


@dataclass
class Desk:
    """Where one activity asks from: its place in the job, and what it has spent so far."""

    ledger: Ledger
    models: Models
    model: str
    strategy: Strategy
    job_id: str
    epoch: int
    task_id: str = ""
    attempt: int = 1
    tokens: int = field(default=0, init=False)
    answered_by: str = field(default="", init=False)
    """The model that gave the last answer."""

    @classmethod
    def of(
        cls,
        db: Database,
        models: Models,
        order: WorkOrder,
        request: JobRequest,
        place: str,
        *,
        model: str = "",
        may_wait: bool = False,
    ) -> Self:
        """The desk of one attempt; `place` is the task, or what the ledger knows the work by.

        `model` is the job's where none is named. A ledger that may wait writes that a call began
        along with its answer, where that is no risk.
        """
        return cls(
            ledger=Ledger(db, may_wait=may_wait, recovery=current_recovery()),
            models=models,
            model=model or request.model,
            strategy=request.strategy,
            job_id=order.job_id,
            epoch=order.epoch,
            task_id=place,
            attempt=order.attempt,
        )

    async def ask(
        self,
        role: Role[TaskT, AnswerT],
        task: TaskT,
        *,
        place: str = "",
        check: Callable[[AnswerT], Sequence[str]] | None = None,
    ) -> Asked[AnswerT]:
        """The role's answer, sent back with its faults up to `plan_tries` times.

        `place` tells apart the calls of one role that run side by side, such as chunks.

        Raises:
            Passing: the model is busy; the ledger keeps what came back until then.
            BudgetReached: the job's cap leaves no room for the next call.
            Lasting: the model refused.
        """

        async def send(request: ModelRequest, part: int) -> Completion:
            return await self._send(request, _part(place, part))

        return await ask(
            role, task, model_name=self.model, send=send, tries=self.strategy.plan_tries,
            check=check,
        )  # fmt: skip

    async def as_begun(self, role: Role[TaskT, AnswerT], task: TaskT, *, place: str = "") -> TaskT:
        """The task in the words of the attempt that was lost, if there was one.

        For tasks that are put together from what is changing, such as the plan's statuses: in
        other words the question would be another one, and its answer paid for twice.
        """
        words = await self.ledger.first_words(
            self.job_id, self.task_id, self.attempt, role.name, _part(place, 1)
        )
        if words is None:
            return task
        try:
            return role.task.model_validate_json(words)
        except ValidationError:
            return task  # an earlier release put it in another shape

    async def written_by(self) -> str:
        """The model of the last answer; where one stood in, with all the others of the job."""
        beside = await self.ledger.models_beside(self.job_id)
        others = " and ".join(name for name in beside if name != self.answered_by)
        return f"{self.answered_by}, with {others}" if others else self.answered_by

    async def _send(self, request: ModelRequest, part: str) -> Completion:
        """The reply of the request's model, or of the fallback once that was busy for too long.

        A report for which the budget has no room is written by the built-in model, for nothing.

        Raises:
            BudgetReached: the job's cap leaves no room for the call, and it was not made.
        """
        key = self._key(request, part)
        try:
            opened = await self.ledger.open_model_call(key, request, self._expense(request))
        except BudgetReached:
            if not _is_report(request):
                raise
            return await self._send(_to(request, EXTRACTIVE), part)
        if isinstance(opened.answer, Completion):
            return self._counted(request, opened.answer)
        instead = self._fallback(request)
        if opened.refusal is None or instead is None:
            try:
                return await self._completed(request, opened.row_id)
            except ModelBusy as busy:
                if instead is None:
                    raise
                await self._waited_out(busy, opened.row_id)
                facts = _change(request, instead, busy)
                await self.ledger.fall_back(key, opened.row_id, self.epoch, facts)
        return await self._send(instead, part)

    async def _completed(self, request: ModelRequest, row_id: int) -> Completion:
        try:
            completion = await self.models.named(request.model).complete(request)
        except HoldfastError as error:
            await self.ledger.fail_model_call(row_id, str(error), kind=type(error).__name__)
            raise
        completion = _storable(completion)
        await self.ledger.close_model_call(row_id, completion, self._cost(request, completion))
        return self._counted(request, completion)

    async def _waited_out(self, busy: ModelBusy, row_id: int) -> None:
        """Raises the error, for Temporal to try again, while the model may still be busy."""
        left = self.strategy.fallback_after - await self.ledger.failing_for(row_id)
        if left > timedelta(0):
            # The model may name a longer time; the fallback is asked when ours is over.
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
        """The same request to the fallback, if there is one and this is not it."""
        name = self.strategy.fallback_model
        if not name or name == request.model:
            return None
        return _to(request, name)

    def _expense(self, request: ModelRequest) -> Expense | None:
        """What the call may cost, where the job has a cap; the built-in model costs nothing."""
        if request.model == EXTRACTIVE or not self.strategy.is_capped:
            return None
        return Expense(
            input_tokens=request_tokens(request),
            price=self.models.prices.of(request.model),
            is_report=_is_report(request),
        )

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


def _part(place: str, number: int) -> str:
    return f"{place}/{number}" if place else str(number)


def _is_report(request: ModelRequest) -> bool:
    return phase_of(request.role) is Phase.SYNTHESIS


def _to(request: ModelRequest, name: str) -> ModelRequest:
    """The same request to another model."""
    # Not `model_copy`: that would keep the hash, and with it the ledger's key.
    return ModelRequest.model_validate(request.model_dump() | {"model": name})


def _change(request: ModelRequest, instead: ModelRequest, why: ModelBusy) -> dict[str, JsonValue]:
    return {
        "role": request.role, "from": request.model, "to": instead.model, "why": str(why)[:500],
    }  # fmt: skip


def _storable(completion: Completion) -> Completion:
    """The reply as the ledger will give it back, so that a repeated dialogue takes its course."""
    refusal = completion.refusal and storable_text(completion.refusal)
    return completion.model_copy(
        update={
            "text": storable_text(completion.text),
            "model": storable_text(completion.model),
            "finish": storable_text(completion.finish),
            "refusal": refusal,
        }
    )
