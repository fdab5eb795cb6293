"""Tests for how the client reads an event stream, also one whose server escapes nothing."""

import json
from collections.abc import Iterator

import pytest

from holdfast import AsyncClient, Client
from holdfast.python_client.answers import Event
from holdfast.python_client.event_parser import EventParser, StreamEnd
from tests.support.services.fixed_server import FixedServer

WORDS = "typed\u2028in\u2029four\u0085lines"
FACTS = {"words": WORDS}
AT = "2026-11-21T00:00:00Z"


def stream(line_end: str) -> bytes:
    """Two entries and the end."""
    entry = {"at": AT, "kind": "job.steered", "task": "", "facts": FACTS}
    entries = [json.dumps({"seq": seq, **entry}, ensure_ascii=False) for seq in (1, 2)]
    lines = [": ping", ""]
    for data in entries:
        lines += ["event: job.steered", f"data: {data}", ""]
    return line_end.join([*lines, "event: end", "data: {}", "", ":", ""]).encode()


@pytest.fixture
def url() -> Iterator[str]:
    with FixedServer(200, {"Content-Type": "text/event-stream"}, stream("\n")) as server:
        yield server.url


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_lines_end_at_line_feeds_and_carriage_returns_alone(line_end: str, size: int) -> None:
    sent, parser = stream(line_end), EventParser()

    parts = (sent[at : at + size] for at in range(0, len(sent), size))
    items = [item for part in parts for item in parser.feed(part)]

    assert [each.seq for each in items if isinstance(each, Event)] == [1, 2]
    assert [each.facts for each in items if isinstance(each, Event)] == [FACTS, FACTS]
    assert items[2:] == [StreamEnd()]


def test_a_follower_reads_separators_of_other_kinds(url: str) -> None:
    with Client(url) as client:
        events = list(client.follow("job-1"))

    assert [each.facts for each in events] == [FACTS, FACTS]


async def test_a_follower_with_asyncio_reads_separators_of_other_kinds(url: str) -> None:
    async with AsyncClient(url) as client:
        events = [each async for each in client.follow("job-1")]

    assert [each.facts for each in events] == [FACTS, FACTS]
