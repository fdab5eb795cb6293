"""Define the routes of the OpenAI Responses API, so that every OpenAI client is a client."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from sse_starlette import ServerSentEvent
from starlette.responses import JSONResponse

from holdfast.api.access.access_errors import AccessRefused
from holdfast.api.api_context import Asker, CallerSession, Reader, Steerer, check_visible_job
from holdfast.api.described_streams import response_stream
from holdfast.api.event_data import event_data
from holdfast.api.responses.job_responses import JobResponse, question_entry
from holdfast.api.responses.openai_route import OPENAI_ERROR_RESPONSE, OpenAIRoute
from holdfast.api.responses.response_events import Event, dumped
from holdfast.api.responses.response_request import (
    DEFAULT_MODEL,
    MODEL_PREFIX,
    QuestionAnswer,
    ResponseBody,
    answer_in,
    preset_of,
    submission_in,
)
from holdfast.api.routes.job_submission_routes import submitted_job
from holdfast.api.server_sent_events import EventStreamResponse
from holdfast.jobs.job_controller import JobController
from holdfast.jobs.written_texts import checked_words
from holdfast.models.access.access_scopes import Scope
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput, NotFound
from holdfast.models.responses.stored_response import StoredResponse
from holdfast.planning.questions.answer_choices import parse_answer
from holdfast.planning.strategies.strategy_presets import all_presets
from holdfast.storage.questions import question_rows
from holdfast.storage.responses import response_rows

_JOB_PREFIX = "job-"
_OBJECT = {"application/json": {"schema": {"type": "object"}}}
_OBJECT_OR_STREAM: dict[int | str, dict[str, Any]] = {200: {"content": _OBJECT | response_stream()}}
_RESPONSE_PREFIX = "resp_"
_MAX_ID_LENGTH = 200

router = APIRouter(
    tags=["responses"],
    route_class=OpenAIRoute,
    responses={"default": OPENAI_ERROR_RESPONSE},
)


@router.post("/responses", response_class=Response, responses=_OBJECT_OR_STREAM)
async def create_response(
    body: ResponseBody,
    session: Asker,
    request: Request,
    key: Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)] = None,
) -> Response:
    """Ask a question, or answer one that a response before this one has asked.

    The job runs on whether or not the client stays; without `background` and `stream` the answer
    comes when the job has ended.
    """
    answer = answer_in(body)
    if answer is None:
        stored = await _asked(session, body, key)
    else:
        stored = await _answered(session, body, answer)
    response = _job_response(session, request, stored)
    if body.stream:
        return _stream(session, response, -1)
    if body.background:
        return JSONResponse(dumped(await response.look()))
    async for _ in response.events(session.context.following):
        pass
    return JSONResponse(dumped(await _job_response(session, request, stored).look()))


@router.get("/responses/{response}", response_class=Response, responses=_OBJECT_OR_STREAM)
async def show_response(
    response: str,
    session: Reader,
    request: Request,
    stream: Annotated[bool, Query(description="Send events, the stored ones first.")] = False,
    starting_after: Annotated[int, Query(ge=-1, le=2**62)] = -1,
) -> Response:
    """The response as it is now, or its events after one of them."""
    found = _job_response(session, request, await _stored(session, response))
    if stream:
        return _stream(session, found, starting_after)
    return JSONResponse(dumped(await found.look()))


@router.post(
    "/responses/{response}/cancel",
    response_class=Response,
    responses={200: {"content": _OBJECT}},
)
async def cancel_response(response: str, session: Steerer, request: Request) -> Response:
    """Cancel the response's job; what it found is kept."""
    stored = await _stored(session, response)
    await JobController(session.holdfast, session.caller.name).cancel(stored.job_id)
    return JSONResponse(dumped(await _job_response(session, request, stored).look()))


@router.delete("/responses/{response}")
async def delete_response(response: str, session: Asker) -> dict[str, Any]:
    """Forget the response; its job stays until it is removed."""
    stored = await _stored(session, response)
    await response_rows.delete_response(session.holdfast.db, stored.id)
    return {"id": stored.id, "object": "response", "deleted": True}


@router.get("/responses/{response}/input_items")
async def list_input_items(response: str, session: Reader) -> dict[str, Any]:
    """What the client sent, item by item."""
    items = (await _stored(session, response)).request.input
    return {
        "object": "list",
        "data": items,
        "first_id": items[0]["id"] if items else None,
        "last_id": items[-1]["id"] if items else None,
        "has_more": False,
    }


@router.get("/models")
async def list_preset_models(session: Reader) -> dict[str, Any]:  # noqa: ARG001 - needs a key
    """The presets as models, and `holdfast` for the installation's default."""
    names = [DEFAULT_MODEL, *(f"{MODEL_PREFIX}{name}" for name in all_presets())]
    return {"object": "list", "data": [_model(name) for name in names]}


@router.get("/models/{model}")
async def show_preset_model(model: str, session: Reader) -> dict[str, Any]:  # noqa: ARG001 - needs a key
    """One preset as a model."""
    preset_of(model)
    return _model(model)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "holdfast"}


async def _asked(session: CallerSession, body: ResponseBody, key: str | None) -> StoredResponse:
    follows = None
    if body.previous_response_id is not None:
        with error_field("previous_response_id"):
            follows = (await _stored(session, body.previous_response_id)).job_id
    job = await submitted_job(session, submission_in(body, follows), key)
    name = _RESPONSE_PREFIX + job.job_id.removeprefix(_JOB_PREFIX)
    return await response_rows.store_response(
        session.holdfast.db, name, job.job_id, 0, body.stored()
    )


async def _answered(
    session: CallerSession, body: ResponseBody, answer: QuestionAnswer
) -> StoredResponse:
    """Answer the question, and continue its job in a response of its own.

    A question that was answered meanwhile, by its default or by another person, stays as it is.
    """
    if not session.caller.may(Scope.STEER):
        raise AccessRefused("an answer needs a key with the scope 'steer'")
    with error_field("input"):
        await check_visible_job(session, answer.job_id)
    db = session.holdfast.db
    after = await question_entry(session.holdfast, answer.job_id, answer.question)
    if after is None:
        raise BadInput(
            f"job {answer.job_id!r} has asked no question {answer.question}", field="input"
        )
    question = await question_rows.load_question(db, answer.job_id, answer.question)
    if question.is_open:
        choice, words = parse_answer(question.kind, answer.text)
        controller = JobController(session.holdfast, session.caller.name)
        await controller.answer(
            answer.job_id, answer.question, choice, checked_words(choice, words)
        )
    name = f"{_RESPONSE_PREFIX}{answer.job_id.removeprefix(_JOB_PREFIX)}_{after}"
    asked = body.stored().model_copy(update={"asks": True})
    return await response_rows.store_response(db, name, answer.job_id, after, asked)


def _missing_response(response_id: str) -> NotFound:
    return NotFound(
        f"there is no response {response_id[:_MAX_ID_LENGTH]!r}; give the `id` of one that this "
        "key made, or make one with POST /v1/responses"
    )


async def _stored(session: CallerSession, response_id: str) -> StoredResponse:
    """The response, if the caller may see its job.

    Raises:
        NotFound: the caller sees no such response.
    """
    is_id = response_id.isprintable() and len(response_id) <= _MAX_ID_LENGTH
    stored = await response_rows.find_response(session.holdfast.db, response_id) if is_id else None
    if stored is None:
        raise _missing_response(response_id)
    try:
        await check_visible_job(session, stored.job_id)
    except NotFound as error:
        raise _missing_response(response_id) from error
    return stored


def _job_response(session: CallerSession, request: Request, stored: StoredResponse) -> JobResponse:
    return JobResponse(session.holdfast, stored, str(request.base_url).rstrip("/"))


def _stream(session: CallerSession, response: JobResponse, after: int) -> Response:
    context = session.context
    events = response.events(context.following)
    slot = context.streams.take(session.caller)
    return EventStreamResponse(_sent(events, after), context.reads_within, slot)


async def _sent(events: AsyncIterator[Event], after: int) -> AsyncIterator[ServerSentEvent]:
    async for event in events:
        if event["sequence_number"] > after:
            data = event_data(json.dumps(event, ensure_ascii=False))
            yield ServerSentEvent(data, event=event["type"], sep="\n")
