"""Tests of the Responses API, streamed, whole and in the background, by the real `openai` client."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import ValidationError

from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.calls.model_config import ModelConfig
from holdfast.models.calls.model_requests import Message
from holdfast.models.errors import (
    HoldfastError,
    MalformedReply,
    ModelBusy,
    ModelRefused,
    ModelUnusable,
)
from tests.roles.endpoints.test_streamed_replies import (
    ANSWER,
    CALLS,
    RECEIPTS,
    REQUEST,
    events,
)
from tests.support.endpoints.opened_endpoint import opened_endpoint
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.endpoints.streamed_answers import sent_event

RESPONSES: dict[str, Any] = {"api": "responses"}
BACKGROUND: dict[str, Any] = RESPONSES | {"background": True}
WAYS = {"streamed": RESPONSES, "whole": RESPONSES | {"stream": False}, "background": BACKGROUND}


@dataclass
class Recorded:
    """The record of a call's responses, as the ledger keeps it."""

    ids: list[tuple[str | None, bool]] = field(default_factory=list)

    async def record(self, response_id: str | None, *, is_sent_again: bool) -> None:
        self.ids.append((response_id, is_sent_again))


@pytest.mark.conformance("BEY-11")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", RECEIPTS)
@pytest.mark.slow
async def test_a_response_is_recorded_like_a_chat_completion(name: str, way: str) -> None:
    request, reply = RECEIPTS[name]
    progress = CallProgress()
    with ScriptedModel(lambda _: reply) as server:
        async with (
            opened_endpoint(server, **WAYS[way]) as model,
            opened_endpoint(server, stream=False) as chat,
        ):
            response = await model.complete(request, progress)
            completion = await chat.complete(request)

    assert response == completion
    assert [asked.is_response for asked in server.asked] == [True, False]
    assert (progress.is_streamed, progress.is_in_background) == (
        way == "streamed",
        way == "background",
    )


async def test_parameters_take_the_names_of_the_responses_api() -> None:
    config = RESPONSES | {
        "temperature": 0.2,
        "reasoning_effort": "low",
        "max_output_tokens": 900,
        "extra_body": {"service_tier": "flex"},
    }
    with ScriptedModel(lambda _: ScriptedReply(ANSWER)) as server:
        async with opened_endpoint(server, **config) as model:
            await model.complete(REQUEST)

    (asked,) = server.asked
    rest = {key: asked.body[key] for key in asked.body.keys() - {"messages", "response_format"}}
    assert rest == {
        "model": "m",
        "temperature": 0.2,
        "reasoning": {"effort": "low"},
        "max_output_tokens": 900,
        "service_tier": "flex",
        "store": False,
        "stream": True,
    }
    assert asked.body["response_format"]["json_schema"]["schema"] == REQUEST.answer_schema
    assert asked.body["response_format"]["json_schema"]["strict"]


async def test_a_background_response_is_stored_as_the_endpoint_or_the_table_says() -> None:
    with ScriptedModel(lambda _: ScriptedReply(ANSWER)) as server:
        async with (
            opened_endpoint(server, **BACKGROUND) as model,
            opened_endpoint(server, **BACKGROUND, extra_body={"store": True}) as storing,
        ):
            await model.complete(REQUEST)
            await storing.complete(REQUEST)

    assert [asked.body.get("store") for asked in server.asked] == [None, True]


async def test_a_dialogue_with_functions_is_told_in_items() -> None:
    calls = json.dumps({"calls": [{"name": "f", "arguments": {"n": 1}}]})
    request = CALLS.model_copy(
        update={
            "messages": (
                *CALLS.messages,
                Message(role="assistant", content=calls),
                Message(role="user", content='{"results": [{"found": 7}]}'),
            )
        }
    )
    with ScriptedModel(lambda _: ScriptedReply.calling(("f", {"n": 2}))) as server:
        async with opened_endpoint(server, **RESPONSES) as model:
            reply = await model.complete(request)

    called, result = server.asked[0].turns[-2:]
    assert called["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"n":1}'}  # type: ignore[index]
    assert (result["role"], result["content"]) == ("tool", '{"found":7}')
    assert called["tool_calls"][0]["id"] == result["tool_call_id"]  # type: ignore[index]
    assert json.loads(reply.text) == {"calls": [{"name": "f", "arguments": {"n": 2}}]}


async def test_a_way_that_the_endpoint_refuses_is_left_here_too() -> None:
    with ScriptedModel(lambda _: ScriptedReply('{"a": "b"}'), supports=("json_object",)) as server:
        async with opened_endpoint(server, **BACKGROUND) as model:
            await model.complete(REQUEST)

    assert [asked.rung for asked in server.asked] == ["json_schema", "json_object"]


FAILED = {"id": "resp_1", "object": "response", "status": "failed"}
ERRORS: dict[str, tuple[dict[str, object], type[HoldfastError], str]] = {
    "failed": (
        {
            "type": "response.failed",
            "response": FAILED | {"error": {"code": "server_error", "message": "It broke."}},
        },
        ModelBusy,
        "answered 500: It broke.",
    ),
    "rate": (
        {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down", "param": None},
        ModelBusy,
        "answered 429: Slow down",
    ),
    "lasting": (
        {
            "type": "response.failed",
            "response": FAILED | {"error": {"code": "invalid_prompt", "message": "No."}},
        },
        ModelUnusable,
        "answered 400: No.",
    ),
    "no-end": ({"type": "response.created"}, MalformedReply, "without the event"),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_a_failure_in_the_stream_is_an_error_of_the_endpoint(name: str) -> None:
    event, raised, says = ERRORS[name]
    with ScriptedModel(lambda _: events(event, ends=b"")) as server:
        async with opened_endpoint(server, **RESPONSES) as model:
            with pytest.raises(raised) as caught:
                await model.complete(REQUEST)

    assert says in str(caught.value)


async def test_a_streamed_response_that_stands_still_is_noticed() -> None:
    with ScriptedModel(lambda _: ScriptedReply(ANSWER, stall=60)) as server:
        async with opened_endpoint(server, **RESPONSES, silence_s=0.2) as model:
            with pytest.raises(ModelBusy, match=r"sent nothing for 0\.2 s"):
                await model.complete(REQUEST)


async def test_a_streamed_response_has_the_same_bound() -> None:
    raw = sent_event({"type": "response.output_text.delta", "delta": "x" * 50_000}) * 41
    with ScriptedModel(lambda _: events(raw, ends=b"")) as server:
        async with opened_endpoint(server, **RESPONSES) as model:
            with pytest.raises(ModelUnusable, match="more than 2,000,000 characters"):
                await model.complete(REQUEST)


async def test_an_endpoint_without_the_api_is_refused_with_the_way_out() -> None:
    with ScriptedModel(lambda _: ScriptedReply(raw=b"{}")) as server:
        async with opened_endpoint(server, **RESPONSES) as model:
            with pytest.raises(MalformedReply, match=r'but with: \{\}; `api = "chat"` asks for'):
                await model.complete(REQUEST)


@pytest.mark.conformance("BEY-11")
async def test_the_id_is_recorded_before_the_response_is_waited_for() -> None:
    polled: list[int] = []
    recorded = Recorded()

    class Slow(Recorded):
        async def record(self, response_id: str | None, *, is_sent_again: bool) -> None:
            polled.append(len(server.responses.polled))
            await recorded.record(response_id, is_sent_again=is_sent_again)

    with ScriptedModel(lambda _: ScriptedReply(ANSWER)) as server:
        async with opened_endpoint(server, **BACKGROUND) as model:
            await model.complete(REQUEST, CallProgress(responses=Slow()))

    assert polled == [0]
    assert recorded.ids == [(server.responses.polled[0], False)]


@pytest.mark.conformance("BEY-11")
async def test_a_response_under_way_is_waited_for_and_not_asked_for_again() -> None:
    with ScriptedModel(lambda _: ScriptedReply(ANSWER, delay=600)) as server:
        async with opened_endpoint(server, **BACKGROUND) as model:
            progress = CallProgress()
            call = asyncio.create_task(model.complete(REQUEST, progress))
            await asyncio.to_thread(server.wait_until, lambda: bool(server.responses.polled))
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            server.release()

            reply = await model.complete(REQUEST, CallProgress(response_id=progress.response_id))

    assert (reply.text, server.count) == (ANSWER, 1)
    assert server.responses.cancelled == []


@pytest.mark.conformance("BEY-11")
async def test_a_response_that_the_endpoint_has_forgotten_is_asked_for_again_and_counted() -> None:
    recorded = Recorded()
    with ScriptedModel(lambda _: ScriptedReply(ANSWER)) as server:
        async with opened_endpoint(server, **BACKGROUND) as model:
            progress = CallProgress(response_id="resp_expired", responses=recorded)
            reply = await model.complete(REQUEST, progress)

    new_id = server.responses.polled[-1]
    assert (reply.text, server.count) == (ANSWER, 1)
    assert recorded.ids == [(None, True), (new_id, False)]


async def test_an_endpoint_that_forgets_at_once_is_not_asked_again_and_again() -> None:
    recorded = Recorded()
    with ScriptedModel(lambda _: ScriptedReply(ANSWER, delay=600)) as server:
        server.responses.made = Forgetful()
        async with opened_endpoint(server, **BACKGROUND) as model:
            with pytest.raises(ModelUnusable, match="`background = false`"):
                await model.complete(REQUEST, CallProgress(responses=recorded))

    assert server.count == 1
    assert recorded.ids[-1] == (None, False)


class Forgetful(dict[str, dict[str, Any]]):
    """Responses of an endpoint that stores none."""

    def get(self, _key: str, default: Any = None) -> Any:
        return default


@pytest.mark.parametrize("response_id", ["", "../models", "a/b", "a?b", "x" * 501, 7])
async def test_an_id_that_is_no_part_of_an_address_is_never_asked_for(response_id: object) -> None:
    response = {"id": response_id, "object": "response", "status": "queued"}
    recorded = Recorded()
    with ScriptedModel(lambda _: ScriptedReply(raw=json.dumps(response).encode())) as server:
        async with opened_endpoint(server, **BACKGROUND) as model:
            with pytest.raises(ModelUnusable, match="no usable id"):
                await model.complete(REQUEST, CallProgress(responses=recorded))

    assert (recorded.ids, server.responses.polled) == ([], [])


@pytest.mark.parametrize(
    ("code", "raised"), [("server_error", ModelBusy), ("invalid_prompt", ModelUnusable)]
)
async def test_a_response_that_failed_is_not_waited_for_again(
    code: str, raised: type[HoldfastError]
) -> None:
    recorded = Recorded()
    with ScriptedModel() as server:
        response_id = server.responses.begin()
        server.responses.fail(response_id, code, "It broke.")
        async with opened_endpoint(server, **BACKGROUND) as model:
            with pytest.raises(raised, match=r"It broke\."):
                await model.complete(
                    REQUEST, CallProgress(response_id=response_id, responses=recorded)
                )

    assert recorded.ids == [(None, False)]


async def test_a_response_that_takes_longer_than_a_call_is_kept() -> None:
    recorded = Recorded()
    with ScriptedModel(lambda _: ScriptedReply(ANSWER, delay=600)) as server:
        async with opened_endpoint(server, **BACKGROUND, timeout_s=0.3) as model:
            with pytest.raises(ModelBusy, match="in time"):
                await model.complete(REQUEST, CallProgress(responses=recorded))

    assert [is_again for _, is_again in recorded.ids] == [False]
    assert recorded.ids[0][0] is not None


async def test_an_endpoint_that_knows_no_background_is_read_as_it_answers() -> None:
    recorded = Recorded()
    with ScriptedModel(lambda _: ScriptedReply(ANSWER), streams=False) as server:
        async with opened_endpoint(server, **BACKGROUND) as model:
            progress = CallProgress(responses=recorded)
            reply = await model.complete(REQUEST, progress)

    assert (reply.text, progress.is_in_background, recorded.ids) == (ANSWER, False, [])


async def test_a_response_can_be_cancelled() -> None:
    with ScriptedModel() as server:
        response_id = server.responses.begin()
        async with opened_endpoint(server, **BACKGROUND) as model:
            await model.cancel_response(response_id)
            with pytest.raises(ModelBusy, match="has cancelled the response"):
                await model.complete(REQUEST, CallProgress(response_id=response_id))
            with pytest.raises(ModelRefused, match="404"):
                await model.cancel_response("resp_unknown")

    assert server.responses.cancelled == [response_id]


@pytest.mark.parametrize(
    ("table", "says"),
    [({"background": True}, '`api = "responses"`'), (RESPONSES | {"seed": 7}, "no `seed`")],
)
def test_a_table_that_cannot_be_meant_is_refused(table: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        ModelConfig.model_validate(table)
