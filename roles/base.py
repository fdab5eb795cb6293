"""What a role is: instructions, a typed task, a typed answer. It does not know its model."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from models.base import Frozen
from models.completions import Completion, ModelRequest

TaskT = TypeVar("TaskT", bound=Frozen)
AnswerT = TypeVar("AnswerT", bound=BaseModel)


@dataclass(frozen=True)
class Role(Generic[TaskT, AnswerT]):
    """One part that a model plays; `instructions` is constant, the task is the user message."""

    name: str
    instructions: str
    task: type[TaskT]
    answer: type[AnswerT]


class Model(Protocol):
    """Anything that can play roles: an endpoint, or the built-in rules."""

    async def complete(self, request: ModelRequest) -> Completion:
        """The reply to one request; never retries by itself.

        Raises:
            ModelBusy: trying again may help.
            ModelRefused: key, permission or model name.
            QuotaExhausted: the account has no credit left.
            ContextTooLong: the request does not fit.
            ModelUnusable: the endpoint does not speak the protocol.
        """
        ...
