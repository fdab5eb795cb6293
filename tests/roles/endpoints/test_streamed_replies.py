"""Tests of streamed replies, by the real `openai` client over HTTP."""

import asyncio
import json
import socket

import pytest

from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.calls.model_requests import FunctionOffer, Message, ModelRequest
from holdfast.models.errors import MalformedReply, ModelBusy, ModelUnusable
from holdfast.roles.endpoints.bounded_replies import bounded_http_client
from holdfast.roles.endpoints.reply_errors import ReplyRefused
from holdfast.roles.endpoints.streaming.event_stream import EventReader
from tests.support.endpoints.opened_endpoint import opened_endpoint
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.endpoints.streamed_answers import sent_event

REQUEST = ModelRequest(
    model="m",
    role="planner",
    messages=(Message(role="system", content="Plan."), Message(role="user", content="{}")),
    answer_schema={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
)
ANSWER = json.dumps({"a": "A long answer with ä, 漢字 and 🙂, in more than one piece. " * 8})


def events(*data: object, ends: bytes = b"data: [DONE]\n\n") -> ScriptedReply:
    """A stream of these events, byte by byte as given."""
    raw = b"".join(each if isinstance(each, bytes) else sent_event(each) for each in data) + ends
    return ScriptedReply(raw=raw, media_type="text/event-stream")


def piece(finish: str | None = None, **delta: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


CALLS = ModelRequest(
    model="m",
    role="loop_agent",
    messages=REQUEST.messages,
    functions=(FunctionOffer(name="f", description="", parameters={}, strict_parameters={}),),
)
RECEIPTS = {
    "text": (REQUEST, ScriptedReply(ANSWER)),
    "empty": (REQUEST, ScriptedReply("", is_lax=True)),
    "length": (REQUEST, ScriptedReply(ANSWER[:90], finish="length")),
    "filtered": (REQUEST, ScriptedReply("", finish="content_filter")),
    "refused": (REQUEST, ScriptedReply(content=None, refusal="I will not do that.")),
    "no-usage": (REQUEST, ScriptedReply(ANSWER, usage=None)),
    "own-usage": (
        REQUEST,
        ScriptedReply(
            ANSWER,
            usage={
                "prompt_tokens": 900,
                "completion_tokens": 70,
                "prompt_tokens_details": {"cached_tokens": 800},
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
        ),
    ),
    "calls": (CALLS, ScriptedReply.calling(("f", {"query": "x" * 90}), ("f", {}))),
}


@pytest.mark.conformance("MOD-11")
@pytest.mark.parametrize("name", RECEIPTS)
async def test_a_streamed_reply_is_recorded_like_a_whole_one(name: str) -> None:
    request, reply = RECEIPTS[name]
    progress = CallProgress()
    with ScriptedModel(lambda _: reply) as server:
        async with (
            opened_endpoint(server) as streaming,
            opened_endpoint(server, stream=False) as plain,
        ):
            streamed = await streaming.complete(request, progress)
            whole = await plain.complete(request)

    assert streamed == whole
    assert [asked.body.get("stream") for asked in server.asked] == [True, None]
    assert progress.is_streamed
    assert progress.received_chars == len(reply.content or reply.refusal or "") or reply.calls


async def test_a_server_that_does_not_stream_is_read_as_it_answers() -> None:
    progress = CallProgress()
    with ScriptedModel(lambda _: ScriptedReply(ANSWER), streams=False) as server:
        async with opened_endpoint(server) as model:
            reply = await model.complete(REQUEST, progress)

    assert (reply.text, progress.is_streamed, server.count) == (ANSWER, False, 1)


@pytest.mark.conformance("MOD-11")
async def test_a_reply_that_stands_still_is_noticed_and_may_be_tried_again() -> None:
    with ScriptedModel(lambda _: ScriptedReply(ANSWER, stall=60)) as server:
        async with opened_endpoint(server, silence_s=0.2) as model:
            with pytest.raises(ModelBusy, match=r"sent nothing for 0\.2 s, after \d+ char") as busy:
                await model.complete(REQUEST)
        await asyncio.to_thread(server.wait_for_left, 1)

    assert not isinstance(busy.value, MalformedReply)


async def test_silence_counts_from_the_first_text_and_not_before() -> None:
    """Some models think silently after an event that says no more than their role."""
    reply = ScriptedReply("", usage=None, stall=0.4, is_lax=True)  # after the first of three events
    with ScriptedModel(lambda _: reply) as server:
        async with opened_endpoint(server, silence_s=0.1) as model:
            assert (await model.complete(REQUEST)).finish == "stop"


async def test_a_reply_that_does_not_begin_in_time_is_given_up() -> None:
    with ScriptedModel(lambda _: ScriptedReply(delay=60, is_lax=True)) as server:
        async with opened_endpoint(server, first_byte_s=0.2) as model:
            with pytest.raises(ModelBusy, match="gave no answer in time"):
                await model.complete(REQUEST)
        server.release()


@pytest.mark.conformance("MOD-11")
async def test_a_connection_that_breaks_in_the_middle_may_be_tried_again() -> None:
    with ScriptedModel(lambda _: ScriptedReply(ANSWER, drop=True)) as server:
        async with opened_endpoint(server) as model:
            with pytest.raises(ModelBusy, match=r"broke the connection off, after \d+ char"):
                await model.complete(REQUEST)


@pytest.mark.conformance("MOD-11")
async def test_a_reply_is_complete_only_with_a_finish_reason() -> None:
    with ScriptedModel(lambda _: ScriptedReply(ANSWER, is_cut=True)) as server:
        async with opened_endpoint(server) as model:
            with pytest.raises(MalformedReply, match=r"without a `finish_reason`.*stream = false"):
                await model.complete(REQUEST)


async def test_a_mark_of_the_end_is_no_finish_reason() -> None:
    """Proxies write it after every stream, also after one that broke off behind them."""
    with ScriptedModel(lambda _: events(piece(content=ANSWER))) as server:
        async with opened_endpoint(server) as model:
            with pytest.raises(MalformedReply, match="finish_reason"):
                await model.complete(REQUEST)


async def test_an_event_that_is_no_json_is_a_malformed_reply() -> None:
    with ScriptedModel(lambda _: events(piece(content="a"), b"data: <html>\n\n")) as server:
        async with opened_endpoint(server) as model:
            with pytest.raises(MalformedReply, match="no chat completion: <html>"):
                await model.complete(REQUEST)


async def test_what_comes_after_the_finish_reason_cannot_spoil_the_reply() -> None:
    with ScriptedModel(lambda _: events(piece("stop", content=ANSWER), ends=b"")) as server:
        async with opened_endpoint(server) as model:
            reply = await model.complete(REQUEST)

    assert (reply.text, reply.finish, reply.is_estimated) == (ANSWER, "stop", True)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
async def test_events_are_read_as_the_standard_writes_them(end: bytes) -> None:
    """Comments, other fields, data over several lines, and no empty line at the end."""
    lines = [
        b": OPENROUTER PROCESSING",
        b"",
        b"id: 7",
        b"event: message",
        b'data:{"choices": [{"index": 0,',
        b'data: "delta": {"content": "ab"}}]}',
        b"",
        b"data:",
        b"",
        b'data: {"choices": [{"delta": {"content": "c"}, "finish_reason": "stop"}]}',
    ]
    with ScriptedModel(lambda _: events(end.join(lines), ends=b"")) as server:
        async with opened_endpoint(server) as model:
            reply = await model.complete(REQUEST)

    assert reply.text == "abc"


@pytest.mark.conformance("MOD-11", "SAF-03")
@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (sent_event(piece(content="x" * 40_000)) * 51, "more than 2,000,000 characters"),
        (sent_event(piece(reasoning_content="x" * 40_000)) * 51, "more than 2,000,000 characters"),
        (b"data: " + b"x" * 2_000_001, "an event of its reply has more than 2,000,000 bytes"),
        (
            b"data: \n" * 10
            + b"data: "
            + b"x" * 999_999
            + b"\n"
            + b"data: "
            + b"y" * 1_100_000
            + b"\n",
            "an event",
        ),
        (
            b"".join(
                sent_event(piece(tool_calls=[{"index": n, "function": {"name": "f"}}]))
                for n in range(1001)
            ),
            "more than 1,000 functions",
        ),
        ((b": " + b"x" * 999_997 + b"\n") * 101, "more than 100,000,000 bytes"),
        (b":\n" * 1_000_001, "more than 1,000,000 lines"),
    ],
    ids=["text", "thoughts", "line", "event", "calls", "comments", "lines"],
)
@pytest.mark.slow
async def test_a_stream_without_bounds_is_refused(raw: bytes, reason: str) -> None:
    with ScriptedModel(lambda _: events(raw, ends=b"")) as server:
        async with opened_endpoint(server) as model:
            with pytest.raises(ModelUnusable, match=reason):
                await model.complete(REQUEST)


def test_a_line_that_never_ends_is_refused_while_it_comes() -> None:
    reader = EventReader()
    assert list(reader.feed(b"x" * 2_000_000)) == []

    with pytest.raises(ReplyRefused, match="2,000,000 bytes"):
        list(reader.feed(b"x"))


async def test_a_stream_may_be_longer_than_a_whole_reply() -> None:
    """A token of four characters comes in an event of two hundred bytes or more."""
    pieces = [piece(content="word")] * 25_000

    with ScriptedModel(lambda _: events(*pieces, piece("stop"))) as server:
        async with opened_endpoint(server) as model:
            reply = await model.complete(REQUEST)

    assert reply.text == "word" * 25_000


@pytest.mark.conformance("MOD-11")
async def test_a_cancelled_call_closes_its_connection() -> None:
    with ScriptedModel(lambda _: ScriptedReply(ANSWER, stall=60)) as server:
        async with opened_endpoint(server) as model:
            progress = CallProgress()
            call = asyncio.create_task(model.complete(REQUEST, progress))
            while not progress.received_chars:
                await asyncio.sleep(0)

            call.cancel()

            with pytest.raises(asyncio.CancelledError):
                await call
            await asyncio.to_thread(server.wait_for_left, 1)


async def test_the_connection_of_a_streamed_reply_is_used_again() -> None:
    with ScriptedModel(lambda _: ScriptedReply(ANSWER)) as server:
        async with opened_endpoint(server) as model:
            for _ in range(3):
                await model.complete(REQUEST)

    assert len({asked.client for asked in server.asked}) == 1


async def test_connections_are_watched_while_nothing_is_sent() -> None:
    with ScriptedModel() as server:
        async with (
            bounded_http_client() as client,
            client.stream("GET", f"{server.url}/models") as response,
        ):
            watched = response.extensions["network_stream"].get_extra_info("socket")
            options = {
                name: watched.getsockopt(level, option)
                for name, level, option in (
                    ("on", socket.SOL_SOCKET, socket.SO_KEEPALIVE),
                    ("idle", socket.IPPROTO_TCP, socket.TCP_KEEPIDLE),
                    ("every", socket.IPPROTO_TCP, socket.TCP_KEEPINTVL),
                    ("times", socket.IPPROTO_TCP, socket.TCP_KEEPCNT),
                )
            }

    assert options["on"]
    assert options["idle"] + options["every"] * options["times"] <= 60
