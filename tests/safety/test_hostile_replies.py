"""Tests that no reply of a model endpoint is read without bound or occupies the event loop.

The stall is the CPU time of this process between two turns of the loop, so a busy machine changes
nothing, and a thread that holds the interpreter counts as well.
"""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Iterator

import pytest
from pydantic import SecretStr

from holdfast.models.calls.model_requests import Completion, ModelRequest
from holdfast.models.errors import HoldfastError, ModelRefused, ModelUnusable
from holdfast.models.plans.plan_drafts import PlanDraft
from holdfast.models.text.secret_mask import SecretMask
from holdfast.planning.plans.plan_draft_faults import draft_faults
from holdfast.planning.plans.plan_validation import PlanRules
from holdfast.roles.dialogue.model_dialogue import MAX_RETURNED, DialogueResult, ask_role
from holdfast.roles.dialogue.reply_reader import MAX_CHARS, ReplyInvalid, read_reply
from holdfast.roles.endpoints.bounded_replies import MAX_REPLY_BYTES
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.roles.planning.gap_planner import GAP_PLANNER
from holdfast.roles.planning.planner import PLANNER, PlannerTask
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.loop_stall import measured_stall

pytestmark = pytest.mark.slow

LONGEST_STALL_S = 1.0
"""Twice what is promised: on a busy machine the same work takes up to twice the CPU time."""
MB = 1_000_000
TASK = PlannerTask(question="why?", tools=())


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel(is_strict=False) as model:
        yield model


@pytest.fixture
async def endpoint(server: ScriptedModel) -> AsyncIterator[EndpointModel]:
    model = EndpointModel(base_url=server.url)
    yield model
    await model.aclose()


async def plan_by(endpoint: EndpointModel) -> DialogueResult[PlanDraft]:
    async def send(request: ModelRequest, _: int) -> Completion:
        return await endpoint.complete(request)

    rules = PlanRules(tools={})
    return await ask_role(
        PLANNER,
        TASK,
        model_name="m-1",
        send=send,
        tries=0,
        check=lambda draft: draft_faults(draft, rules),
    )


def body(content: str, **more: object) -> ScriptedReply:
    """A completion with this content; `more` are other fields of the reply."""
    reply = {"choices": [{"message": {"content": content}}], **more}
    return ScriptedReply(raw=json.dumps(reply).encode())


def tasks(count: int) -> str:
    task = {"kind": "reasoning", "description": "d", "expects": [{"name": "a"}]}
    return json.dumps({"tasks": [task | {"id": f"T{n}"} for n in range(count)]})


def with_usage(text: str) -> ScriptedReply:
    """A completion whose `usage` is this JSON."""
    return ScriptedReply(raw=f'{{"choices": [{{"message": {{}}}}], "usage": {text}}}'.encode())


def streamed(events: bytes) -> ScriptedReply:
    """A stream of these events, packed: a small piece of it stands for many."""
    return ScriptedReply(
        raw=gzip.compress(events),
        headers={"content-encoding": "gzip"},
        media_type="text/event-stream",
    )


REPLIES = {
    "5,000 tasks": body(tasks(5_000)),
    "empty tasks": body('{"tasks": [' + ",".join(["{}"] * 300_000) + "]}"),
    "lists in the answer": body('{"tasks": [' + "[]," * 300_000 + "[]]}"),
    "a long answer": body("x" * (MAX_REPLY_BYTES - 1000)),
    "fences": body("```\n{}\n```\n" * (MAX_CHARS // 11)),
    "keys": body("a: b\n" * (MAX_CHARS // 5)),
    "blanks": body("{" + " " * (MAX_CHARS - 1)),
    "brackets": body("[" * MAX_CHARS),
    "marks": body("!" * MAX_CHARS),
    "lists": with_usage("[" + "[]," * (MAX_REPLY_BYTES // 3 - 100) + "[]]"),
    "objects": with_usage("[" + '{"a":{"a":{}}},' * (MAX_REPLY_BYTES // 15 - 100) + "1]"),
    "names": with_usage("{" + ",".join(f'"{n}":1' for n in range(MAX_REPLY_BYTES // 12)) + "}"),
    "half a character": with_usage("[" + "[]," * (MAX_REPLY_BYTES // 3 - 100) + '"\\ud83d"]'),
    "deep": with_usage("[" * MB + "]" * MB),
    "20 MB": ScriptedReply(raw=b"[" + b"0," * (10 * MB) + b"0]"),
    "20 MB with an error": ScriptedReply(raw=b"no " * (7 * MB), status=400),
    "200 MB, packed": ScriptedReply(
        raw=gzip.compress(b" " * (200 * MB)), headers={"content-encoding": "gzip"}
    ),
    "empty events": streamed(b"data: {}\n\n" * (9 * MB)),
    "comments": streamed(b":\n" * (45 * MB)),
    "calls in events": streamed(
        b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{}}]}}]}\n\n' * MB
    ),
    "lists in an event": streamed(
        b'data: {"choices":[{"x":[' + b"[]," * (MAX_REPLY_BYTES // 3 - 100) + b"[]]}]}\n\n"
    ),
    "one line of data by data": streamed(b"data:\n" * (16 * MB)),
}


@pytest.mark.conformance("SAF-01", "SAF-03")
@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
async def test_no_reply_occupies_the_loop_or_ends_in_anything_but_a_fault(
    reply: ScriptedReply, server: ScriptedModel, endpoint: EndpointModel
) -> None:
    server.push(reply)

    async with measured_stall() as stall:
        try:
            faults = (await plan_by(endpoint)).faults
        except HoldfastError as error:
            faults = (str(error),)

    assert faults
    assert all(len(fault) < 500 for fault in faults)
    assert stall.longest_s < LONGEST_STALL_S


@pytest.mark.conformance("SAF-03")
@pytest.mark.parametrize("name", ["20 MB", "200 MB, packed"])
async def test_a_reply_that_is_too_large_is_refused_while_it_is_read(
    name: str, server: ScriptedModel, endpoint: EndpointModel
) -> None:
    server.push(REPLIES[name])

    with pytest.raises(ModelUnusable, match=r"its reply has more than 2,000,000 bytes"):
        await plan_by(endpoint)


@pytest.mark.parametrize(
    ("coding", "reason"), [("br", "packed as 'br'"), ("gzip", "cannot be unpacked")]
)
async def test_a_reply_that_cannot_be_unpacked_is_refused(
    coding: str, reason: str, server: ScriptedModel, endpoint: EndpointModel
) -> None:
    server.push(ScriptedReply(raw=b"no gzip", headers={"content-encoding": coding}))

    with pytest.raises(ModelUnusable, match=reason):
        await plan_by(endpoint)


@pytest.mark.parametrize("pack", [gzip.compress, bytes], ids=["packed", "plain"])
async def test_a_large_reply_within_the_limit_is_read(
    pack: type[bytes], server: ScriptedModel, endpoint: EndpointModel
) -> None:
    raw = body("x" * (MB + MB // 2)).raw or b""
    headers = {"content-encoding": "gzip"} if pack is not bytes else {}
    server.push(ScriptedReply(raw=pack(raw), headers=headers))

    assert (await plan_by(endpoint)).faults == (
        "the answer has 1,500,000 characters; the limit is 1,000,000",
    )


@pytest.mark.conformance("SAF-01")
async def test_a_plan_with_too_many_tasks_is_refused_by_their_number(
    server: ScriptedModel, endpoint: EndpointModel
) -> None:
    server.push(body(tasks(5_000)))

    assert (await plan_by(endpoint)).faults == ("tasks: the plan has 5000 tasks; the limit is 500",)


@pytest.mark.conformance("SAF-03")
@pytest.mark.parametrize(("one", "count"), [("{}", 49_990), ('{"a":0}', 26_000), ("0", 99_000)])
async def test_an_answer_with_too_many_values_is_refused_before_its_faults_are_listed(
    one: str, count: int
) -> None:
    text = f'{{"new_sub_questions": [{",".join([one] * count)}]}}'

    async with measured_stall() as stall:
        with pytest.raises(ReplyInvalid, match="more than 50,000 values; answer more briefly"):
            await asyncio.to_thread(read_reply, text, GAP_PLANNER.answer)

    assert stall.longest_s < LONGEST_STALL_S


@pytest.mark.parametrize("one", ["{}", '{"a":0}'])
async def test_the_faults_of_as_many_values_as_are_read_stall_nothing(one: str) -> None:
    text = f'{{"new_sub_questions": [{",".join([one] * 24_990)}]}}'

    async with measured_stall() as stall:
        with pytest.raises(ReplyInvalid, match=r"new_sub_questions\.0\.id: Field required"):
            await asyncio.to_thread(read_reply, text, GAP_PLANNER.answer)

    assert stall.longest_s < LONGEST_STALL_S


@pytest.mark.conformance("SAF-03")
async def test_a_job_whose_model_sends_too_much_ends_after_one_call_and_says_so(
    engine: RunningEngine, model: ScriptedModel
) -> None:
    model.push(REPLIES["20 MB"])

    job = await engine.run("When?")

    assert (job.status, job.stop_reason, model.count) == ("failed", "planning_failed", 1)
    assert "its reply has more than 2,000,000 bytes, which is the limit" in job.message


@pytest.mark.conformance("SAF-01")
async def test_a_job_whose_planner_writes_5000_tasks_asks_for_a_smaller_plan(
    engine: RunningEngine, model: ScriptedModel
) -> None:
    model.push(*[body(tasks(5_000))] * 4)

    job = await engine.run("When?")

    assert (job.status, job.stop_reason, model.count) == ("failed", "planning_failed", 4)
    assert "the plan has 5000 tasks; the limit is 500" in job.message
    returned = model.asked[-1].turns[-2]["content"]
    assert len(returned) == MAX_RETURNED


async def complete(server: ScriptedModel, key: str, reply: ScriptedReply) -> Completion:
    server.push(reply)
    endpoint = EndpointModel(base_url=server.url, api_key=SecretStr(key))
    request = ModelRequest(
        model="m-1", role="planner", messages=(), answer_schema={"properties": {"depends_on": {}}}
    )
    try:
        return await endpoint.complete(request)
    finally:
        await endpoint.aclose()


@pytest.mark.conformance("SAF-03")
@pytest.mark.parametrize("key", ["x", "expects", "depends_on", "placeholder", "ANYTHING"])
async def test_a_key_that_is_short_a_plain_word_or_a_name_of_the_answer_changes_no_reply(
    key: str, server: ScriptedModel
) -> None:
    content = '{"tasks": [{"expects": "x", "depends_on": ["a placeholder for ANYTHING"]}]}'

    assert (await complete(server, key, ScriptedReply(content))).text == content


@pytest.mark.conformance("SAF-03")
async def test_a_key_in_a_reply_is_masked_character_by_character(server: ScriptedModel) -> None:
    repeated = ScriptedReply('{"summary": "walnut-drawer"}')

    reply = await complete(server, "walnut-drawer", repeated)

    assert reply.text == '{"summary": "*************"}'


@pytest.mark.conformance("SAF-03")
async def test_a_key_that_is_a_plain_word_is_masked_in_errors(server: ScriptedModel) -> None:
    told = ScriptedReply(status=401, error={"message": "no such key: placeholder"})

    with pytest.raises(ModelRefused) as refused:
        await complete(server, "placeholder", told)

    assert "no such key: ***********" in str(refused.value)


@pytest.mark.parametrize("key", ["swordfish1", "Sword-fish", "swOrdfishes", "a" * 21])
def test_what_is_no_plain_word_is_masked_in_content(key: str) -> None:
    assert SecretMask([key]).of_content().text(f"it is {key}") == f"it is {'*' * len(key)}"


@pytest.mark.parametrize("secret", ['a"quoted" key', "schlüssel-über", "a/path+key=", "plain-text"])
def test_a_secret_is_masked_as_text_json_and_in_addresses(secret: str) -> None:
    mask = SecretMask([secret])
    written = [secret, json.dumps(secret), json.dumps(secret, ensure_ascii=False)]

    for text in written:
        assert set(mask.text(text).strip('"')) == {"*"}
        assert len(mask.text(text)) == len(text)
