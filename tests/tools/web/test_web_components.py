"""Tests for the parts of the web server: politeness, decoding, reading, parts of a page."""

import gzip
import logging
import zlib
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.models.errors import BadInput, HoldfastError, ToolBusy, ToolFailed
from holdfast.tools.web.content_types import BodyKind, body_kind, declared_charset
from holdfast.tools.web.http_client.body_decompression import BodyDecompressor
from holdfast.tools.web.http_client.host_limits import HostLimits, retry_after_seconds
from holdfast.tools.web.page_cache import CachedPage, PageCache
from holdfast.tools.web.page_charset import decode_page
from holdfast.tools.web.page_parts import page_part
from holdfast.tools.web.page_text import PageText, extract_page_text


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def visit(hosts: HostLimits, name: str) -> None:
    async with hosts.turn(name):
        pass


async def test_requests_to_one_host_keep_their_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("holdfast.tools.web.http_client.host_limits.asyncio.sleep", sleep)
    hosts = HostLimits(0.5, Clock())
    hosts.slow_down("slow.test", 3)
    hosts.slow_down("absurd.test", 86_400)

    for name in ("a.test", "b.test", "a.test", "a.test", "slow.test", "slow.test"):
        await visit(hosts, name)
    assert slept == [0.5, 1.0, 3.0]
    await visit(hosts, "absurd.test")
    await visit(hosts, "absurd.test")
    assert slept[-1] == 10.0, "a host cannot hold a job for a day"


async def test_rest_ends_and_success_forgives() -> None:
    clock = Clock()
    hosts = HostLimits(0, clock)
    for _ in range(3):
        assert isinstance(hosts.record_failure("a.test", "a.test answers 503"), ToolBusy)
    hosts.record_success("a.test")
    assert isinstance(hosts.record_failure("a.test", "a.test answers 429", 60), ToolBusy)
    with pytest.raises(ToolBusy, match="another 60 s"):
        await visit(hosts, "a.test")
    clock.now += 61
    await visit(hosts, "a.test")
    for _ in range(2):
        hosts.record_failure("a.test", "down")
    assert isinstance(hosts.record_failure("a.test", "down"), ToolFailed)
    with pytest.raises(ToolFailed, match="another 60 s: use another source"):
        await visit(hosts, "a.test")
    clock.now += 3600
    assert isinstance(hosts.record_failure("a.test", "down"), ToolBusy), (
        "an hour later is another day"
    )


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("Sat, 21 Nov 2026 12:01:00 GMT", 60),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0),
        ("soon", 0),
        ("", 0),
        ("-5", 0),
        ("9" * 5000, 999_999_999),
        ("²", 0),
    ],
)
def test_retry_after_in_both_its_forms(said: str, seconds: float) -> None:
    assert retry_after_seconds(said, datetime(2026, 11, 21, 12, tzinfo=UTC)) == seconds


@given(st.text(max_size=40))
def test_any_retry_after_is_a_time(said: str) -> None:
    assert retry_after_seconds(said) >= 0


@given(
    body=st.binary(max_size=3000),
    coding=st.sampled_from(["gzip", "deflate", ""]),
    step=st.integers(1, 400),
    limit=st.integers(0, 4000),
    keeps_start=st.booleans(),
)
def test_unpacking_gives_the_body_or_its_start_or_refuses(
    body: bytes, coding: str, step: int, limit: int, keeps_start: bool
) -> None:
    packed = {"gzip": gzip.compress, "deflate": zlib.compress, "": bytes}[coding](body)
    unpacking = BodyDecompressor("a.test", coding, limit, keeps_start=keeps_start)
    try:
        for start in range(0, len(packed), step):
            unpacking.add(packed[start : start + step])
    except ToolFailed as error:
        refused = str(error)
    else:
        refused = ""

    assert bool(refused) == (len(body) > limit and not keeps_start)
    assert refused or unpacking.whole() == body[:limit] or unpacking.whole() == body


@given(
    data=st.binary(max_size=300),
    coding=st.sampled_from(["gzip", "deflate"]),
)
def test_unpacking_of_anything_stays_below_the_limit(data: bytes, coding: str) -> None:
    unpacking = BodyDecompressor("a.test", coding, 100)
    try:
        unpacking.add(data)
    except ToolFailed:
        return
    assert len(unpacking.whole()) <= 100


def outcome(kind: BodyKind, charset: str, body: bytes) -> PageText | None:
    try:
        return extract_page_text(kind, "http://a.test/page", charset, body)
    except BadInput:
        return None


_PIECES = [*"<>/!-&;\"'= \n\0ab", "<p>", "<title>", "<meta ", "</", "<!--", "<a", "<table>", "<tr>"]
_HTML = st.lists(st.sampled_from(_PIECES), max_size=60).map(lambda each: "".join(each).encode())


@settings(max_examples=60, deadline=None)
@given(body=_HTML | st.binary(max_size=200), charset=st.sampled_from(["", "utf-8", "big5", "x"]))
@pytest.mark.slow
def test_any_page_is_read_or_refused_in_one_way(body: bytes, charset: str) -> None:
    logging.disable()
    try:
        for kind in (BodyKind.HTML, BodyKind.TEXT, BodyKind.WIKI):
            found = outcome(kind, charset, body)
            assert found is None or ("\0" not in found.text and "\n" not in found.title)
    finally:
        logging.disable(logging.NOTSET)


@settings(max_examples=30, deadline=None)
@given(body=st.binary(max_size=200).map(lambda tail: b"%PDF-1.4\n" + tail))
def test_any_pdf_is_read_or_refused_in_one_way(body: bytes) -> None:
    assert body_kind({"content-type": "text/html"}, body) is BodyKind.PDF
    assert outcome(BodyKind.PDF, "", body) is None


@given(text=st.text(max_size=100), charset=st.text(max_size=12))
def test_any_charset_name_is_harmless(text: str, charset: str) -> None:
    body = text.encode("utf-8", "replace")
    try:
        found = decode_page("a", body, charset)
    except HoldfastError:
        return
    assert "\0" not in found


def test_charset_is_read_from_the_content_type() -> None:
    assert (
        declared_charset({"content-type": 'text/html; Charset="ISO-8859-1"; x=y'}) == "iso-8859-1"
    )
    assert declared_charset({}) == ""


@given(
    text=st.lists(st.text(alphabet="ab .\n#", max_size=60), max_size=30).map("\n\n".join),
    most=st.integers(1, 200),
)
def test_parts_follow_each_other_to_the_end(text: str, most: int) -> None:
    start: int | None = 0
    seen = 0
    while start is not None:
        part = page_part(text, start, most)
        assert all(each.start >= seen for each in part.passages)
        seen = max((each.end for each in part.passages), default=seen)
        assert part.next_start is None or part.next_start > start
        start = part.next_start
    whole = page_part(text, 0, 10**9).passages
    assert not whole or whole[-1].end == seen


def test_memory_of_pages_is_bounded_and_forgets_the_oldest() -> None:
    clock = Clock()
    pages = PageCache(60, clock)
    for number in range(30):
        page = PageText(text="x" * 1_000_000)
        address = f"http://a.test/{number}"
        pages.keep(address, CachedPage(address, str(number), page, etag="v"))

    assert pages.fresh_page("http://a.test/0") is None
    assert pages.fresh_page("http://a.test/29") is not None
    assert pages.same("29", "http://a.test/29") is not None
    clock.now += 61
    assert pages.fresh_page("http://a.test/29") is None
    assert pages.old("http://a.test/29") is not None
