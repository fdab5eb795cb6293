"""Asking a model through the ledger: a reply that came back once is never paid for again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from activities.parts import Models
from models.base import Frozen
from models.calls import CallKey
from models.completions import Completion, ModelRequest
from models.errors import HoldfastError
from planning.values import storable_text
from roles.base import Role
from roles.dialogue import Asked, ask
from storage.ledger import Ledger

TaskT = TypeVar("TaskT", bound=Frozen)
AnswerT = TypeVar("AnswerT", bound=BaseModel)


@dataclass
class Desk:
    """Where one activity asks from: its place in the job, and what it has spent so far."""

    ledger: Ledger
    models: Models
    model: str
    job_id: str
    task_id: str = ""
    attempt: int = 1
    tries: int = 3
    tokens: int = field(default=0, init=False)

    async def ask(
        self,
        role: Role[TaskT, AnswerT],
        task: TaskT,
        *,
        place: str = "",
        check: Callable[[AnswerT], Sequence[str]] | None = None,
    ) -> Asked[AnswerT]:
        """The role's answer, sent back with its faults up to `tries` times.

        `place` tells apart the calls of one role that run side by side, such as chunks.

        Raises:
            Passing: the model is busy; the ledger keeps what came back until then.
            Lasting: the model refused.
        """

        async def send(request: ModelRequest, part: int) -> Completion:
            return await self._send(request, f"{place}/{part}" if place else str(part))

        return await ask(
            role, task, model_name=self.model, send=send, tries=self.tries, check=check
        )

    async def as_begun(self, role: Role[TaskT, AnswerT], task: TaskT) -> TaskT:
        """The task in the words of the attempt that was lost, if there was one.

        For tasks that are put together from what is changing, such as the plan's statuses: in
        other words the question would be another one, and its answer paid for twice.
        """
        words = await self.ledger.first_words(self.job_id, self.task_id, self.attempt, role.name)
        if words is None:
            return task
        try:
            return role.task.model_validate_json(words)
        except ValidationError:
            return task  # an earlier release put it in another shape

    async def _send(self, request: ModelRequest, part: str) -> Completion:
        key = CallKey(
            job_id=self.job_id,
            task_id=self.task_id,
            attempt=self.attempt,
            part=part,
            request_hash=request.hash,
        )
        opened = await self.ledger.open_model_call(key, request)
        if isinstance(opened.answer, Completion):
            return self._counted(opened.answer)
        try:
            completion = await self.models.named(self.model).complete(request)
        except HoldfastError as error:
            await self.ledger.fail_model_call(opened.row_id, str(error))
            raise
        completion = _storable(completion)
        await self.ledger.close_model_call(opened.row_id, completion)
        return self._counted(completion)

    def _counted(self, completion: Completion) -> Completion:
        self.tokens += completion.input_tokens + completion.output_tokens
        return completion


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
