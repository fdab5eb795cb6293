"""Tests that the official `openai` client works with Holdfast as its server (API-05)."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage
from pydantic import BaseModel

from holdfast.models.questions.user_questions import QuestionKind
from holdfast.models.responses.stored_response import ClientRequest
from holdfast.storage.jobs import job_rows
from holdfast.storage.questions.question_rows import NewQuestion
from holdfast.storage.responses import response_rows
from tests.support.endpoints.loop_script import answer
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.question_jobs import submit_with_questions
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("API-05")]

MODEL = "holdfast-loop"
PLANNED = "holdfast-kpi-chain"
QUOTE = "The pier was built by Ida Marsh in 1868."


@pytest.fixture
async def client(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> AsyncIterator[AsyncOpenAI]:
    tools.answers = lambda _: QUOTE
    players.plan = plan(lookup_task("T1", query="pier"), final_task("T2", "T1"))
    players.loop.turns = [[answer("", open=["who built it"])]]
    settings = engine.holdfast.settings.model_copy(update={"model": "scripted"})
    with HttpService(replace(engine.holdfast, settings=settings), writes=True) as serving:
        async with AsyncOpenAI(
            base_url=f"{serving.url}/v1", api_key=serving.token, max_retries=0
        ) as client:
            yield client


async def test_a_response_has_the_report_with_each_mark_as_an_annotation(
    client: AsyncOpenAI,
) -> None:
    response = await client.responses.create(model=PLANNED, input="Who built the pier?")

    message = response.output[-1]
    assert isinstance(message, ResponseOutputMessage)
    text = message.content[0]
    assert text.type == "output_text"
    assert (response.status, response.model) == ("completed", PLANNED)
    assert "Ida Marsh" in response.output_text
    assert text.annotations, text.text
    job_id = response.id.replace("resp_", "job-")
    for citation in text.annotations:
        assert citation.type == "url_citation"
        mark = text.text[citation.start_index : citation.end_index]
        number = mark.strip("[]")
        assert citation.url.endswith(f"/jobs/{job_id}/report?mark={number}#source")
    assert response.usage
    assert response.usage.total_tokens > 0
    again = await client.responses.retrieve(response.id)
    assert again.to_dict() == response.to_dict()


async def test_a_stream_that_was_dropped_goes_on_after_the_last_event(client: AsyncOpenAI) -> None:
    stream = await client.responses.create(model=PLANNED, input="Who built the pier?", stream=True)
    first = []
    async for event in stream:
        first.append(event)
        if event.type == "response.reasoning_summary_part.added":
            break
    await stream.close()
    response_id = first[0].response.id  # type: ignore[union-attr]  # the first event has it
    last = first[-1].sequence_number

    rest = [
        event
        async for event in await client.responses.retrieve(
            response_id, stream=True, starting_after=last
        )
    ]
    whole = [event async for event in await client.responses.retrieve(response_id, stream=True)]

    numbers = [event.sequence_number for event in (*first, *rest)]
    assert numbers == [event.sequence_number for event in whole] == list(range(len(whole)))
    assert [each.to_dict() for each in rest] == [each.to_dict() for each in whole[last + 1 :]]
    assert whole[-1].type == "response.completed"
    deltas = [each.delta for each in whole if each.type == "response.output_text.delta"]
    assert "".join(deltas) == whole[-1].response.output_text


async def test_a_background_response_is_looked_at_cancelled_and_deleted(
    client: AsyncOpenAI, engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.loop.delay_s = 30
    begun = await client.responses.create(
        model=MODEL, input="Who built the pier?", background=True, metadata={"team": "harbour"}
    )
    items = await client.responses.input_items.list(begun.id)

    cancelled = await client.responses.cancel(begun.id)
    job_id = begun.id.replace("resp_", "job-")
    await engine.holdfast.wait(job_id)
    ended = await client.responses.retrieve(begun.id)
    await client.responses.delete(begun.id)

    assert begun.status in ("queued", "in_progress")
    assert begun.metadata == {"team": "harbour"}
    assert items.data[0].content[0].text == "Who built the pier?"  # type: ignore[union-attr]
    assert cancelled.id == begun.id
    assert ended.status == "cancelled"
    with pytest.raises(openai.NotFoundError, match="there is no response"):
        await client.responses.retrieve(begun.id)
    assert (await job_rows.load_job(engine.db, job_id)).status == "cancelled"


async def test_a_question_is_a_call_that_the_client_answers(
    client: AsyncOpenAI, engine: RunningEngine
) -> None:
    new = NewQuestion(key="q", kind=QuestionKind.QUESTION, text="Which pier?")
    job_id, (number,) = await submit_with_questions(engine, new)
    request = ClientRequest(model=PLANNED, input=[], asks=True)
    asked = await response_rows.store_response(engine.db, "resp_asks", job_id, 0, request)

    response = await client.responses.retrieve(asked.id)
    call = response.output[-1]
    assert isinstance(call, ResponseFunctionToolCall)
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "The old one."}
    answered = await client.responses.create(
        model=PLANNED,
        previous_response_id=response.id,
        input=[output],  # type: ignore[list-item]  # a plain dict
    )
    again = await client.responses.create(
        model=PLANNED,
        previous_response_id=response.id,
        input=[output],  # type: ignore[list-item]
    )

    assert (response.status, call.name) == ("completed", "ask_user")
    assert json.loads(call.arguments)["question"] == "Which pier?"
    assert answered.id != response.id
    assert answered.status == "completed"
    assert "built by Ida Marsh" in answered.output_text
    assert again.id == answered.id
    assert str(number) in call.call_id


@pytest.mark.long
async def test_a_response_follows_another_or_a_conversation_held_elsewhere(
    client: AsyncOpenAI, engine: RunningEngine, players: ScriptedRoles
) -> None:
    first = await client.responses.create(model=MODEL, input="Who built the pier?")
    follow = await client.responses.create(
        model=MODEL, input="And when?", previous_response_id=first.id
    )
    told = await client.responses.create(
        model=MODEL,
        input=[
            {"role": "user", "content": "Who built the mole?"},
            {"role": "assistant", "content": "Otto Lenz."},
            {"role": "user", "content": [{"type": "input_text", "text": "And when?"}]},
        ],
    )

    jobs = [
        await job_rows.load_job(engine.db, each.id.replace("resp_", "job-"))
        for each in (follow, told)
    ]
    assert jobs[0].request.followed_job == first.id.replace("resp_", "job-")
    assert jobs[1].request.followed_job is None
    assert "Who built the mole? Answer: Otto Lenz." in jobs[1].request.question_in_context
    assert "Otto Lenz." in players.loop.asked[-1].task["question"]


class Person(BaseModel):
    """An answer that a program wants in a form of its own."""

    name: str


async def test_faults_reach_the_client_with_their_remedy(client: AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="GET /v1/models lists the models") as unknown:
        await client.responses.create(model="gpt-5", input="Who?")
    with pytest.raises(openai.BadRequestError, match="ends with no message of the role user"):
        await client.responses.create(model=MODEL, input=[{"role": "assistant", "content": "a"}])
    output = {"type": "function_call_output", "call_id": "x", "output": "yes"}
    with pytest.raises(openai.BadRequestError, match="is of no question"):
        await client.responses.create(model=MODEL, input=[output])  # type: ignore[list-item]
    picture = {"type": "input_image", "image_url": "data:,x"}
    shown = {"role": "user", "content": [{"type": "input_text", "text": "Who?"}, picture]}
    with pytest.raises(openai.BadRequestError, match="'input_image' is not read"):
        await client.responses.create(model=MODEL, input=[shown])  # type: ignore[list-item]
    with pytest.raises(openai.BadRequestError, match="'json_schema' is not written"):
        await client.responses.parse(model=MODEL, input="Who?", text_format=Person)
    with pytest.raises(openai.UnprocessableEntityError, match=r"body\.model") as wrong:
        await client.responses.create(input="Who?", model=7)  # type: ignore[call-overload]
    with pytest.raises(openai.NotFoundError, match="there is no response 'resp_x'"):
        await client.responses.create(model=MODEL, input="Who?", previous_response_id="resp_x")
    with pytest.raises(openai.AuthenticationError):
        await client.with_options(api_key="hf_no").models.list()

    assert unknown.value.code == "NotFound"
    assert wrong.value.param == "body.model"


async def test_presets_are_models(client: AsyncOpenAI) -> None:
    names = [model.id async for model in client.models.list()]

    assert {"holdfast", "holdfast-research", MODEL} <= set(names)
    assert (await client.models.retrieve(MODEL)).id == MODEL
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("holdfast-odd")
