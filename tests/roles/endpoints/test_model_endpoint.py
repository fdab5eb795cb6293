"""Tests of the model endpoint over real HTTP: errors, response formats, and what leaves the
machine."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic import SecretStr

from holdfast.models.calls.model_config import ModelConfig
from holdfast.models.calls.model_requests import Message, ModelRequest
from holdfast.models.errors import (
    ContextTooLong,
    FailureClass,
    HoldfastError,
    MalformedReply,
    ModelBusy,
    ModelRefused,
    ModelUnusable,
    QuotaExhausted,
)
from holdfast.models.text.schema_shape import schema_shape
from holdfast.roles.dialogue.answer_schemas import answer_schema
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.roles.endpoints.chat_request import shows_schema
from holdfast.roles.planning.planner import PLANNER, PlannerTask
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply

KEY = "sk-test-4711"
SCHEMA = answer_schema(PLANNER.answer)
REQUEST = ModelRequest(
    model="m-1",
    role="planner",
    messages=(
        Message(role="system", content=PLANNER.instructions),
        Message(role="user", content=PlannerTask(question="why?", tools=()).model_dump_json()),
    ),
    answer_schema=SCHEMA,
)


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel(is_strict=False) as model:
        yield model


@pytest.fixture
async def endpoint(server: ScriptedModel) -> AsyncIterator[EndpointModel]:
    model = EndpointModel(base_url=server.url, api_key=SecretStr(KEY))
    yield model
    await model.aclose()


async def failure(endpoint: EndpointModel, request: ModelRequest = REQUEST) -> HoldfastError:
    with pytest.raises(HoldfastError) as caught:
        await endpoint.complete(request)
    return caught.value


@dataclass(frozen=True)
class Row:
    """One row of the error table: what the server does, what we raise, what is on it."""

    reply: ScriptedReply
    raised: type[HoldfastError]
    facts: dict[str, object] = field(default_factory=dict)
    says: str = ""


def row(
    status: int,
    raised: type[HoldfastError],
    error: object = None,
    /,
    *,
    headers: Mapping[str, str] | None = None,
    says: str = "",
    **facts: object,
) -> Row:
    reply = ScriptedReply(status=status, error=error or {"message": "no"}, headers=headers or {})
    return Row(reply, raised, facts, says)


SECONDS = timedelta(seconds=1)
QUOTA = {"message": "You exceeded your quota", "code": "insufficient_quota"}
LONG = {"message": "x", "type": "invalid_request_error", "code": "context_length_exceeded"}
LLAMA = {"message": "x", "type": "exceed_context_size_error", "n_ctx": 4096}
VLLM = {"message": "This model's maximum context length is 8192 tokens."}

TABLE = {
    "429": row(429, ModelBusy, after=None),
    "429 s": row(429, ModelBusy, headers={"retry-after": "2"}, after=2 * SECONDS),
    "429 ms": row(
        429, ModelBusy, headers={"retry-after-ms": "250", "retry-after": "9"}, after=0.25 * SECONDS
    ),
    "429 cap": row(429, ModelBusy, headers={"retry-after": "9e9"}, after=600 * SECONDS),
    "429 inf": row(429, ModelBusy, headers={"retry-after": "inf"}, after=600 * SECONDS),
    "429 nan": row(429, ModelBusy, headers={"retry-after": "nan"}, after=None),
    "429 text": row(429, ModelBusy, headers={"retry-after": "soon"}, after=None),
    "429 minus": row(429, ModelBusy, headers={"retry-after": "-5"}, after=0 * SECONDS),
    "429 past": row(
        429, ModelBusy, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, after=0 * SECONDS
    ),
    "429 quota": row(429, QuotaExhausted, QUOTA, failure_class=FailureClass.QUOTA),
    "401": row(401, ModelRefused, status=401, says="OPENAI_API_KEY"),
    "402": row(402, QuotaExhausted, failure_class=FailureClass.QUOTA, says="credit"),
    "403": row(403, ModelRefused, status=403, failure_class=FailureClass.POLICY, says="may use"),
    "404": row(404, ModelRefused, status=404, says="OPENAI_BASE_URL"),
    "408": row(408, ModelBusy),
    "409": row(409, ModelBusy),
    "425": row(425, ModelBusy),
    "500": row(500, ModelBusy, "oops"),
    "503": row(503, ModelBusy, headers={"retry-after": "7"}, after=7 * SECONDS),
    "529": row(529, ModelBusy),
    "503 no": row(503, ModelUnusable, headers={"x-should-retry": "false"}),
    "409 no": row(409, ModelUnusable, headers={"x-should-retry": "false"}),
    "400": row(400, ModelUnusable, {"message": "temperature is out of range"}, says="temperature"),
    "405": row(405, ModelUnusable),
    "422": row(422, ModelUnusable),
    "413": row(413, ContextTooLong),
    "400 openai": row(400, ContextTooLong, LONG),
    "400 llama.cpp": row(400, ContextTooLong, LLAMA),
    "500 llama.cpp": row(500, ContextTooLong, LLAMA),
    "400 vllm": row(400, ContextTooLong, VLLM),
    "502 html": Row(
        ScriptedReply(raw=b"<html>bad gateway", status=502, media_type="text/html"), ModelBusy
    ),
    "400 text": Row(
        ScriptedReply(raw=b'{"error": "odd\\n words"}', status=400), ModelUnusable, says="odd words"
    ),
    "400 flat": Row(
        ScriptedReply(raw=b'{"object":"error","message":"flat","code":400}', status=400),
        ModelUnusable,
        says="flat",
    ),
    "200 error": Row(
        ScriptedReply(raw=b'{"error":{"message":"upstream down","code":502}}'),
        MalformedReply,
        says="upstream down",
    ),
    "200 html": Row(
        ScriptedReply(raw=b"<html>Welcome</html>", media_type="text/html"),
        MalformedReply,
        says="Welcome",
    ),
    "200 broken": Row(ScriptedReply(raw=b"not json"), MalformedReply, says="not json"),
    "200 deep": Row(ScriptedReply(raw=b"[" * 99_999), MalformedReply),
    "200 nothing": Row(ScriptedReply(raw=b""), MalformedReply, says="nothing"),
    "200 no choice": Row(ScriptedReply(raw=b'{"choices":[]}'), MalformedReply, says="choices"),
    "200 null": Row(ScriptedReply(raw=b'{"choices":null}'), MalformedReply),
    "dropped": Row(ScriptedReply(drop=True), ModelBusy, says="broke the connection off"),
}


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.slow
async def test_each_error_says_whether_trying_again_helps(
    name: str, server: ScriptedModel, endpoint: EndpointModel
) -> None:
    expected = TABLE[name]
    server.push(expected.reply)
    before = server.count

    error = await failure(endpoint)

    assert type(error) is expected.raised
    assert {fact: getattr(error, fact) for fact in expected.facts} == expected.facts
    assert endpoint.address in str(error)
    assert expected.says in str(error)
    assert server.count == before + 1


async def test_a_date_to_come_back_at_is_understood(
    server: ScriptedModel, endpoint: EndpointModel
) -> None:
    until = datetime.now(UTC) + timedelta(seconds=90)
    headers = {"retry-after": format_datetime(until, usegmt=True)}
    server.push(ScriptedReply(status=429, error={"message": "slow"}, headers=headers))

    error = await failure(endpoint)

    assert isinstance(error, ModelBusy)
    assert error.after is not None
    assert timedelta(seconds=60) < error.after <= timedelta(seconds=90)


@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
async def test_no_message_or_cause_holds_the_key(
    status: int, server: ScriptedModel, endpoint: EndpointModel
) -> None:
    server.push(ScriptedReply(status=status, raw=json.dumps({"error": f"bad key {KEY}"}).encode()))

    error = await failure(endpoint)

    assert KEY not in str(error)
    assert "*" * len(KEY) in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


async def test_the_servers_text_is_cut(server: ScriptedModel, endpoint: EndpointModel) -> None:
    server.push(ScriptedReply(status=400, error={"message": "long " * 999}))

    assert len(str(await failure(endpoint))) < 500


async def test_an_address_in_a_message_has_no_password() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    endpoint = EndpointModel(base_url=f"http://me:secret@127.0.0.1:{port}/v1?key=secret")

    error = await failure(endpoint)
    await endpoint.aclose()

    assert isinstance(error, ModelBusy)
    assert f"http://127.0.0.1:{port}/v1" in str(error)
    assert "secret" not in str(error)


async def test_a_slow_answer_is_given_up(server: ScriptedModel) -> None:
    endpoint = EndpointModel(base_url=server.url, timeout=timedelta(seconds=0.2))
    server.push(ScriptedReply(delay=1))

    error = await failure(endpoint)
    await endpoint.aclose()

    assert isinstance(error, ModelBusy)
    assert "in time" in str(error)


async def test_a_cancelled_call_stays_cancelled(
    server: ScriptedModel, endpoint: EndpointModel
) -> None:
    server.push(ScriptedReply(delay=1))
    before = server.count
    call = asyncio.create_task(endpoint.complete(REQUEST))
    await asyncio.to_thread(server.wait_for, before + 1)

    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call


@pytest.mark.conformance("MOD-05")
async def test_a_reply_comes_with_what_it_cost(
    server: ScriptedModel, endpoint: EndpointModel
) -> None:
    usage = {
        "prompt_tokens": 90,
        "completion_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    server.push(ScriptedReply(content="hi", usage=usage))

    done = await endpoint.complete(REQUEST)

    assert (done.text, done.model, done.finish, done.refusal) == ("hi", "m-1", "stop", None)
    assert (done.input_tokens, done.output_tokens) == (90, 12)
    assert (done.cached_tokens, done.reasoning_tokens) == (64, 5)
    assert not done.is_estimated


NO_USAGE: list[dict[str, object] | None] = [
    None,
    {},
    {"prompt_tokens": None, "completion_tokens": None, "prompt_tokens_details": None},
    {"prompt_tokens": "many", "completion_tokens": -3},
]


@pytest.mark.parametrize("usage", NO_USAGE)
async def test_what_the_server_does_not_count_is_estimated(
    usage: dict[str, object] | None, server: ScriptedModel, endpoint: EndpointModel
) -> None:
    server.push(ScriptedReply(content="a word or two", usage=usage))

    done = await endpoint.complete(REQUEST)

    assert done.is_estimated
    assert done.output_tokens == 4
    assert done.input_tokens > 300


async def test_refusals_and_filters_are_replies(
    server: ScriptedModel, endpoint: EndpointModel
) -> None:
    azure = {"message": "The prompt was filtered", "code": "content_filter"}
    server.push(
        ScriptedReply(content=None, refusal="I must not"),
        ScriptedReply(content=None, finish="content_filter"),
        ScriptedReply(status=400, error=azure),
        ScriptedReply(content='{"tasks', finish="length"),
        ScriptedReply(content="{}", finish=None),
    )

    replies = [await endpoint.complete(REQUEST) for _ in range(5)]

    refused, filtered, prompt, cut, plain = replies
    assert (refused.text, refused.refusal) == ("", "I must not")
    assert filtered.finish == "content_filter"
    assert (prompt.finish, prompt.refusal) == ("content_filter", "The prompt was filtered")
    assert cut.finish == "length"
    assert plain.finish == "stop"


LADDERS = [
    (("json_schema", "json_object"), ["json_schema", "json_schema"]),
    (("json_object",), ["json_schema", "json_object", "json_object"]),
    ((), ["json_schema", "json_object", "text", "text"]),
]


@pytest.mark.parametrize(("supports", "rungs"), LADDERS)
@pytest.mark.parametrize("status", [400, 500])
async def test_the_strictest_rung_that_a_server_takes_is_remembered(
    supports: tuple[str, ...], rungs: list[str], status: int
) -> None:
    with ScriptedModel(
        lambda _: ScriptedReply(), is_strict=False, supports=supports, refusal_status=status
    ) as server:
        endpoint = EndpointModel(base_url=server.url)

        for _ in range(2):
            await endpoint.complete(REQUEST)
        await endpoint.aclose()

    assert [asked.rung for asked in server.asked] == rungs
    for asked in server.asked:
        assert asked.plays(PLANNER)
        assert asked.system.endswith(schema_shape(SCHEMA))
        assert PlannerTask.model_validate(asked.task) == PlannerTask(question="why?", tools=())


async def test_calls_at_once_go_down_one_rung_together() -> None:
    with ScriptedModel(
        lambda _: ScriptedReply(), is_strict=False, supports=("json_object",)
    ) as server:
        endpoint = EndpointModel(base_url=server.url)

        await asyncio.gather(*(endpoint.complete(REQUEST) for _ in range(5)))
        await endpoint.aclose()

    assert {asked.rung for asked in server.asked} == {"json_schema", "json_object"}


async def test_the_rung_is_remembered_for_each_model() -> None:
    with ScriptedModel(lambda _: ScriptedReply(), is_strict=False, supports=()) as server:
        endpoint = EndpointModel(base_url=server.url)

        await endpoint.complete(REQUEST)
        await endpoint.complete(REQUEST.model_copy(update={"model": "m-2"}))
        await endpoint.aclose()

    assert [asked.rung for asked in server.asked] == ["json_schema", "json_object", "text"] * 2


async def test_a_complaint_at_every_rung_is_not_about_the_rungs(
    server: ScriptedModel, endpoint: EndpointModel
) -> None:
    complaint = ScriptedReply(status=400, error={"message": "bad grammar"})
    server.push(complaint, complaint, complaint, ScriptedReply())

    assert isinstance(await failure(endpoint), ModelUnusable)
    await endpoint.complete(REQUEST)

    rungs = [asked.rung for asked in server.asked[-4:]]
    assert rungs == ["json_schema", "json_object", "text", "json_schema"]


async def test_the_strict_schema_goes_along_under_the_roles_name(
    server: ScriptedModel, endpoint: EndpointModel
) -> None:
    server.push(ScriptedReply())

    await endpoint.complete(REQUEST)

    sent = server.asked[-1].body
    assert sent["response_format"]["json_schema"] == {
        "name": "planner",
        "strict": True,
        "schema": SCHEMA,
    }
    assert sent["model"] == "m-1"


async def test_a_request_without_a_schema_is_sent_as_it_is(
    server: ScriptedModel, endpoint: EndpointModel
) -> None:
    server.push(ScriptedReply("fine"))
    request = REQUEST.model_copy(update={"answer_schema": {}})

    await endpoint.complete(request)

    asked = server.asked[-1]
    assert asked.rung == "text"
    assert asked.turns == [message.model_dump() for message in request.messages]


@pytest.mark.parametrize("schema", [{}, SCHEMA])
async def test_only_a_complaint_about_the_format_leads_down(
    schema: dict[str, object], server: ScriptedModel, endpoint: EndpointModel
) -> None:
    message = "maximum context length exceeded by the grammar" if schema else "bad grammar"
    server.push(ScriptedReply(status=400, error={"message": message}))
    before = server.count

    await failure(endpoint, REQUEST.model_copy(update={"answer_schema": schema}))

    assert server.count == before + 1


@pytest.fixture
def polluted(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "X-Leak: 1",
        "authorization: Bearer sk-leak",
        "Content-Type: text/plain",
        "accept: leak",
        "OpenAI-Project: leak",
    ]
    for name, value in {
        "OPENAI_API_KEY": "sk-leak",
        "OPENAI_ADMIN_KEY": "sk-leak",
        "OPENAI_ORG_ID": "org-leak",
        "OPENAI_PROJECT_ID": "leak",
        "OPENAI_BASE_URL": "http://leak.invalid/v1",
        "OPENAI_CUSTOM_HEADERS": "\n".join(lines),
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("polluted")
@pytest.mark.parametrize(
    ("key", "sent"),
    [(None, "none"), (SecretStr(""), "none"), (SecretStr(KEY), KEY)],
)
async def test_nothing_of_the_environment_leaves(
    key: SecretStr | None, sent: str, server: ScriptedModel
) -> None:
    server.push(ScriptedReply())
    endpoint = EndpointModel(base_url=server.url, api_key=key)

    await endpoint.complete(REQUEST)
    await endpoint.aclose()

    headers = server.asked[-1].headers
    assert headers["authorization"] == f"Bearer {sent}"
    assert headers["content-type"] == headers["accept"] == "application/json"
    assert "leak" not in json.dumps(dict(headers))
    assert not {"x-leak", "openai-organization", "openai-project"} & set(headers)


async def test_the_answers_type_is_left_out_where_the_model_sees_the_schema(
    server: ScriptedModel,
) -> None:
    server.push(*[ScriptedReply.of({"explanation": "", "tasks": []})] * 2)
    told = EndpointModel(base_url=server.url, config=ModelConfig(schema_in_prompt=False))
    untold = EndpointModel(base_url=server.url)

    await told.complete(REQUEST)
    await untold.complete(REQUEST)

    assert server.asked[-2].system == REQUEST.messages[0].content
    assert server.asked[-1].system.endswith(schema_shape(SCHEMA))
    await told.aclose()
    await untold.aclose()


async def test_a_reply_without_the_schemas_fields_brings_the_type_into_the_prompt(
    server: ScriptedModel,
) -> None:
    server.push(ScriptedReply.of({"plan": []}), ScriptedReply.of({"explanation": "", "tasks": []}))
    endpoint = EndpointModel(base_url=server.url, config=ModelConfig(schema_in_prompt=False))

    await endpoint.complete(REQUEST)
    await endpoint.complete(REQUEST)

    assert schema_shape(SCHEMA) not in server.asked[-2].system
    assert server.asked[-1].system.endswith(schema_shape(SCHEMA))
    await endpoint.aclose()


@pytest.mark.parametrize(
    ("url", "is_shown"),
    [
        ("https://api.openai.com/v1", True),
        ("https://generativelanguage.googleapis.com/v1beta/openai", True),
        ("http://127.0.0.1:11434/v1", False),
        ("https://openai.com.example.org/v1", False),
    ],
)
def test_only_hosts_that_show_the_schema_are_trusted_to(url: str, *, is_shown: bool) -> None:
    assert shows_schema(ModelConfig(), url) is is_shown
