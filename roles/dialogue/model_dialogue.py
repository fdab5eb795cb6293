"""Ask a model to play a role until its answer is valid; send each fault back as text."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias

from holdfast.models.calls.model_requests import Completion, Message, ModelRequest
from holdfast.models.text.terminal_text import shorten_text
from holdfast.roles.dialogue.answer_schemas import answer_schema
from holdfast.roles.dialogue.reply_reader import ReplyInvalid, read_reply, without_thinking
from holdfast.roles.dialogue.role_definition import AnswerT, Role, TaskT

SendRequest: TypeAlias = Callable[[ModelRequest, int], Awaitable[Completion]]
"""Sends a request as the given part of the dialogue, counted from 1."""

MAX_RETURNED = 50_000
"""Characters of an invalid reply that go back to its author; a longer reply goes back cut."""

_UNUSABLE_FINISHES = {
    "length": "it was cut off at the length limit; answer more briefly",
    "content_filter": "the content filter stopped it",
}


@dataclass(frozen=True)
class DialogueResult(Generic[AnswerT]):
    """The result of a dialogue: the answer, or None if it was never valid."""

    answer: AnswerT | None
    faults_by_attempt: tuple[tuple[str, ...], ...]
    added: tuple[Message, ...] = ()
    """The messages that the dialogue added: replies with their corrections, and the last reply."""

    @property
    def attempts(self) -> int:
        """How many requests were sent."""
        return len(self.faults_by_attempt)

    @property
    def faults(self) -> tuple[str, ...]:
        """What was wrong with the last answer; empty when it was accepted."""
        return self.faults_by_attempt[-1] if self.faults_by_attempt else ()


async def ask_role(
    role: Role[TaskT, AnswerT],
    task: TaskT,
    *,
    model_name: str,
    send: SendRequest,
    tries: int,
    check: Callable[[AnswerT], Sequence[str]] | None = None,
) -> DialogueResult[AnswerT]:
    """The role's answer to the task, after at most `tries` corrections.

    Touches the world only through `send`, whose errors pass through. The same replies lead to the
    same requests, so a dialogue that was cut off continues where the ledger's replies end.
    """
    request = opening_request(role, task, model_name=model_name)
    return await hold_dialogue(request, role.answer, send=send, tries=tries, check=check)


def opening_request(role: Role[TaskT, AnswerT], task: TaskT, *, model_name: str) -> ModelRequest:
    """The first request of a dialogue: the role's system message, and the task as JSON.

    Fields that have their default are left out of the JSON: most are empty in most calls.
    """
    opening = (
        Message(role="system", content=role.system),
        Message(role="user", content=task.model_dump_json(exclude_defaults=True)),
    )
    return ModelRequest(
        model=model_name,
        role=role.name,
        messages=opening,
        answer_schema=answer_schema(role.answer),
        task=task,
    )


async def hold_dialogue(
    request: ModelRequest,
    answer_type: type[AnswerT],
    *,
    send: SendRequest,
    tries: int,
    check: Callable[[AnswerT], Sequence[str]] | None = None,
) -> DialogueResult[AnswerT]:
    """The valid answer to a request, after at most `tries` corrections; see `ask_role`.

    A refusal, or a reply that a content filter stopped, is not asked for again.
    """
    opening = request.messages
    added: list[Message] = []
    faults: list[tuple[str, ...]] = []
    for part in range(1, tries + 2):
        # Not `model_copy`, which would keep the cached hash.
        content = dict(request) | {"messages": (*opening, *added)}
        completion = await send(ModelRequest.model_construct(**content), part)
        # A reply is foreign text: reading it may take seconds, and the event loop must go on.
        answer, found = await asyncio.to_thread(_read_and_check, completion, answer_type, check)
        faults.append(found)
        if not found or _is_final_refusal(completion):
            added.append(_said(completion))
            return DialogueResult(answer, tuple(faults), tuple(added))
        added += _correction_messages(completion, found)
    return DialogueResult(None, tuple(faults), tuple(added))


def _read_and_check(
    completion: Completion,
    answer_type: type[AnswerT],
    check: Callable[[AnswerT], Sequence[str]] | None,
) -> tuple[AnswerT | None, tuple[str, ...]]:
    if completion.refusal:
        return None, (f"it was a refusal: {completion.refusal[:300]}",)
    if completion.finish in _UNUSABLE_FINISHES:
        return None, (_UNUSABLE_FINISHES[completion.finish],)
    try:
        answer = read_reply(completion.text, answer_type)
    except ReplyInvalid as error:
        return None, tuple(str(error).splitlines())
    return answer, tuple(check(answer)) if check else ()


def _is_final_refusal(completion: Completion) -> bool:
    """True if asking again would only pay for the same refusal."""
    return bool(completion.refusal) or completion.finish == "content_filter"


def _correction_messages(completion: Completion, faults: Sequence[str]) -> list[Message]:
    lines = "\n".join(f"- {fault}" for fault in faults)
    errors = f"Your answer was not accepted:\n{lines}\nSend the whole corrected answer."
    return [_said(completion), Message(role="user", content=errors)]


def _said(completion: Completion) -> Message:
    # Some endpoints refuse an empty turn, and none wants its own thoughts back.
    said = without_thinking(completion.text) or completion.refusal or "(no answer)"
    return Message(role="assistant", content=shorten_text(said, MAX_RETURNED))
