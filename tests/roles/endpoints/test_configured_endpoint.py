"""Tests of an endpoint with a table `[models.NAME]`: its parameters, its name there, its context
and the rungs that it needs."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from holdfast.models.calls.model_config import ModelConfig
from holdfast.models.calls.model_requests import Message, ModelRequest
from holdfast.models.errors import ContextTooLong, ModelRefused
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.roles.endpoints.chat_request import output_limit_key
from holdfast.roles.endpoints.remembered_rungs import REMEMBERED_S, RememberedRungs
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
REQUEST = ModelRequest(
    model="big",
    role="planner",
    messages=(Message(role="system", content="Plan."), Message(role="user", content="{}")),
    answer_schema=SCHEMA,
)
CONFIG = ModelConfig(
    id="maker/big-5",
    temperature=0.2,
    top_p=0.9,
    seed=7,
    reasoning_effort="low",
    max_output_tokens=4000,
    extra_body={"top_k": 20},
)


@pytest.fixture
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel(lambda _: ScriptedReply('{"a": "b"}')) as model:
        yield model


@asynccontextmanager
async def endpoint(server: ScriptedModel, config: ModelConfig) -> AsyncIterator[EndpointModel]:
    model = EndpointModel(base_url=server.url, config=config, table="big")
    try:
        yield model
    finally:
        await model.aclose()


@pytest.mark.conformance("MOD-01")
async def test_the_parameters_of_the_table_are_sent_under_the_models_name_there(
    server: ScriptedModel,
) -> None:
    before = REQUEST.hash

    async with endpoint(server, CONFIG) as model:
        await model.complete(REQUEST)

    (asked,) = server.asked
    named = {key: asked.body[key] for key in ("model", "temperature", "top_p", "seed", "top_k")}
    assert named == {
        "model": "maker/big-5",
        "temperature": 0.2,
        "top_p": 0.9,
        "seed": 7,
        "top_k": 20,
    }
    assert (asked.body["reasoning_effort"], asked.body["max_tokens"]) == ("low", 4000)
    assert "max_completion_tokens" not in asked.body
    assert REQUEST.hash == before


async def test_what_the_table_leaves_out_is_left_to_the_endpoint(server: ScriptedModel) -> None:
    async with endpoint(server, ModelConfig()) as model:
        await model.complete(REQUEST)

    assert set(server.asked[0].body) == {
        "model",
        "messages",
        "response_format",
        "stream",
        "stream_options",
    }


LIMIT_KEYS = [
    ("https://api.openai.com/v1", None, "max_completion_tokens"),
    ("https://eu.openai.azure.com/openai/v1", None, "max_completion_tokens"),
    ("https://api.groq.com/openai/v1", None, "max_completion_tokens"),
    ("http://127.0.0.1:8000/v1", None, "max_tokens"),
    ("https://openrouter.ai/api/v1", None, "max_tokens"),
    ("https://notopenai.com/v1", None, "max_tokens"),
    ("http://127.0.0.1:8000/v1", "max_completion_tokens", "max_completion_tokens"),
]


@pytest.mark.parametrize(("url", "own", "key"), LIMIT_KEYS)
def test_the_output_limit_has_the_name_that_the_endpoint_takes(
    url: str, own: str | None, key: str
) -> None:
    config = ModelConfig.model_validate({"output_limit_key": own})

    assert output_limit_key(config, url) == key


@pytest.mark.conformance("MOD-01")
async def test_a_request_over_the_context_is_refused_before_it_is_paid(
    server: ScriptedModel,
) -> None:
    long = REQUEST.model_copy(
        update={"messages": (*REQUEST.messages, Message(role="user", content="word " * 2000))}
    )

    async with endpoint(server, ModelConfig(context_tokens=1000)) as model:
        await model.complete(REQUEST)
        with pytest.raises(ContextTooLong, match=r"context of 1,000 tokens.*was not sent"):
            await model.complete(long)
    async with endpoint(server, ModelConfig(context_tokens=300, max_output_tokens=299)) as model:
        with pytest.raises(ContextTooLong, match="up to 299 of output"):
            await model.complete(REQUEST)

    assert server.count == 1


async def test_a_message_names_the_table_and_the_variable(server: ScriptedModel) -> None:
    config = ModelConfig(url=server.url, key_env="BIG_KEY")
    server.push(ScriptedReply(status=401, error={"message": "no"}))
    server.push(ScriptedReply(status=404, error={"message": "no"}))

    async with endpoint(server, config) as model:
        with pytest.raises(ModelRefused, match="check the key in BIG_KEY"):
            await model.complete(REQUEST)
        with pytest.raises(ModelRefused, match=r"`url` in \[models.big\]"):
            await model.complete(REQUEST)


async def test_a_rung_is_left_for_the_role_that_needs_it(server: ScriptedModel) -> None:
    def answer(asked: ReceivedRequest) -> ScriptedReply:
        named = (asked.body.get("response_format") or {}).get("json_schema", {}).get("name")
        if named == "planner":
            return ScriptedReply(status=400, error={"message": "invalid json_schema"})
        return ScriptedReply('{"a": "b"}')

    with ScriptedModel(answer) as server:
        async with endpoint(server, ModelConfig()) as model:
            for _ in range(2):
                await model.complete(REQUEST)
                await model.complete(REQUEST.model_copy(update={"role": "extractor"}))

    assert [asked.rung for asked in server.asked] == [
        "json_schema",
        "json_object",
        "json_schema",
        "json_object",
        "json_schema",
    ]


def test_a_rung_is_remembered_for_an_hour() -> None:
    now = [100.0]
    rungs = RememberedRungs(clock=lambda: now[0])
    rungs.remember(("m", "planner"), 2)
    rungs.remember(("m", "planner"), 1)  # a call that began earlier

    here = rungs.first(("m", "planner"))
    elsewhere = [rungs.first(("m", "extractor")), rungs.first(("other", "planner"))]
    now[0] += REMEMBERED_S

    assert (here, elsewhere) == (2, [0, 0])
    assert rungs.first(("m", "planner")) == 0
