"""Put a job's questions to the user through the host, where the host declares elicitation.

Hosts of the 2026-07-28 protocol get the questions as the result of `research_wait` (input
requests), and send the answers with the same call again. Older hosts over stdio get a request of
their own, which no tool call waits for: a person may take hours, a call less than 20 seconds. Older
hosts over HTTP have no way back to the host, so there the questions are in the state alone.

A question is put to the user once. One that the user does not answer then stays in the state.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult
from pydantic import Field, ValidationError

from holdfast.jobs.written_texts import checked_answer
from holdfast.mcp_server.caller_access import KnownCaller
from holdfast.mcp_server.commands_as_tools import in_tools
from holdfast.models.access.access_scopes import Scope
from holdfast.models.errors import BadInput, HoldfastError, NotFound
from holdfast.models.frozen_model import Frozen
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.views.status_views import WaitingQuestion
from holdfast.planning.questions.answer_choices import FREE_TEXT_KINDS, AnswerChoice

log = structlog.get_logger(__name__)

INPUT_REQUESTS_SINCE = "2026-07-28"
_KEY = "question-"
_MAX_MESSAGE = 4_000
_MAX_REMEMBERED = 10_000


class FormAnswer(Frozen):
    """What a user filled into the form of a question."""

    choice: str = Field(default="", max_length=40)
    text: str = ""


class HostQuestions:
    """Remembers which questions were put to which caller."""

    def __init__(self) -> None:
        self._shown: dict[tuple[str, str, int], None] = {}
        self._asking: set[asyncio.Task[None]] = set()

    def is_news(self, known: KnownCaller, job_id: str, question: WaitingQuestion) -> bool:
        """True if the caller has not been shown the question."""
        return (known.caller.name, job_id, question.id) not in self._shown

    def mark_shown(
        self, known: KnownCaller, job_id: str, questions: Sequence[WaitingQuestion]
    ) -> None:
        """Remember that the caller was shown the questions."""
        for question in questions:
            self._shown[known.caller.name, job_id, question.id] = None
        while len(self._shown) > _MAX_REMEMBERED:
            del self._shown[next(iter(self._shown))]

    def ask_behind_call(
        self,
        request: ServerRequestContext[Any, Any],
        known: KnownCaller,
        job_id: str,
        questions: Sequence[WaitingQuestion],
    ) -> None:
        """Ask the user through a host of an older protocol; no call waits for the answer."""
        for question in questions:
            asking = asyncio.create_task(self._ask(request, known, job_id, question))
            self._asking.add(asking)
            asking.add_done_callback(self._asking.discard)

    async def _ask(
        self,
        request: ServerRequestContext[Any, Any],
        known: KnownCaller,
        job_id: str,
        question: WaitingQuestion,
    ) -> None:
        form = question_form(question).params
        assert isinstance(form, ElicitRequestFormParams)
        try:
            result = await request.session.elicit_form(form.message, form.requested_schema)
            await answer_with(known, job_id, question.id, result)
        except (HoldfastError, MCPError, ValidationError, ConnectionError) as error:
            # The question stays open, and the state shows it.
            log.warning("question.not_answered", job=job_id, question=question.id, why=str(error))


def can_ask(request: ServerRequestContext[Any, Any], known: KnownCaller) -> bool:
    """True if the host shows forms, and the caller may answer questions."""
    capabilities = request.session.client_capabilities
    return bool(capabilities and capabilities.elicitation is not None) and known.caller.may(
        Scope.STEER
    )


def takes_input_requests(request: ServerRequestContext[Any, Any]) -> bool:
    """True if the host takes questions as the result of a call."""
    return request.protocol_version >= INPUT_REQUESTS_SINCE


def input_requests(questions: Sequence[WaitingQuestion]) -> dict[str, Any]:
    """The questions as input requests; their keys name the questions at the next call."""
    return {f"{_KEY}{question.id}": question_form(question) for question in questions}


def question_form(question: WaitingQuestion) -> ElicitRequest:
    """The form that asks the question: its choices, words of one's own, or both."""
    properties: dict[str, Any] = {}
    # An edited plan is YAML, which nobody types into a form.
    choices = [each for each in question.choices if each != AnswerChoice.EDIT]
    takes_text = QuestionKind(question.kind) in FREE_TEXT_KINDS
    if choices:
        properties["choice"] = {"type": "string", "title": "Decision", "enum": choices}
    if title := _text_title(choices, takes_text=takes_text):
        properties["text"] = {"type": "string", "title": title}
    required = ["choice"] if choices and not takes_text else []
    schema = {"type": "object", "properties": properties, "required": required}
    message = shorten_text(question.text, _MAX_MESSAGE)
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _text_title(choices: Sequence[str], *, takes_text: bool) -> str:
    """What the words of an answer are for; empty if the question takes none."""
    if takes_text:
        return "Answer"
    if AnswerChoice.RAISE in choices:
        return "New limit (with raise): N, or max_cost=N or max_tokens=N where both are set"
    return "What to change (with revise)" if AnswerChoice.REVISE in choices else ""


async def take_answers(known: KnownCaller, job_id: str, responses: Mapping[str, Any] | None) -> str:
    """Answer the job's questions with what the user filled in; return what could not be used."""
    faults = []
    for key, response in (responses or {}).items():
        number = key.removeprefix(_KEY)
        if not (key.startswith(_KEY) and number.isdecimal() and len(number) < 10):
            continue
        try:
            result = ElicitResult.model_validate(
                response.model_dump() if isinstance(response, ElicitResult) else response
            )
            await answer_with(known, job_id, int(number), result)
        except NotFound:
            # Another job's question, or none; nothing is said of it.
            continue
        except (BadInput, ValidationError) as error:
            faults.append(
                f"question {number} was not answered: {shorten_text(in_tools(str(error)), 400)}"
            )
    return "; ".join(faults)


async def answer_with(known: KnownCaller, job_id: str, number: int, result: ElicitResult) -> None:
    """Answer the question as the user did; a user who declined has not answered.

    Raises:
        BadInput: the question is not open, or does not take this answer.
        NotFound: the job has no such question.
        ServiceDown: Temporal or the workers do not answer.
        ValidationError: the host sent another form.
    """
    if result.action != "accept":
        return
    answer = FormAnswer.model_validate(result.content or {})
    text = checked_answer(answer.text) if answer.text.strip() else ""
    await known.controller.answer(job_id, number, answer.choice, text)
