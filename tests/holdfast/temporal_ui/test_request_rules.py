"""Tests for which requests may reach the Temporal UI."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.temporal_ui.message_head import MalformedHead, MessageHead, parse_head
from holdfast.temporal_ui.request_rules import refusal

PORT = 8233
API = "GET /api/v1/namespaces HTTP/1.1"
PAGE = "GET /namespaces/default/workflows HTTP/1.1"
POST = "POST /api/v1/namespaces/default/workflows/j/terminate HTTP/1.1"
OWN = ("host", "127.0.0.1:8233")
LINK = (OWN, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"))


def refused(first_line: str, *fields: tuple[str, str]) -> str:
    return refusal(MessageHead(first_line, fields), PORT)


@pytest.mark.parametrize(
    ("first_line", "fields"),
    [
        (API, (OWN,)),
        (API, (("host", "LOCALHOST:8233"),)),
        (PAGE, (OWN, ("sec-fetch-site", "none"))),
        (POST, (OWN, ("origin", "http://127.0.0.1:8233"), ("sec-fetch-site", "same-origin"))),
        (PAGE, (*LINK, ("sec-fetch-dest", "document"))),
    ],
    ids=["a program", "localhost", "an address typed in", "the UI's own page", "a link"],
)
def test_the_user_and_the_pages_of_the_ui_pass(
    first_line: str, fields: tuple[tuple[str, str], ...]
) -> None:
    assert refused(first_line, *fields) == ""


@pytest.mark.parametrize(
    ("first_line", "fields"),
    [
        (API, (("host", "evil.example:8233"),)),
        (API, (("host", "127.0.0.1"),)),
        (API, ()),
        (API, (OWN, ("host", "evil.example"))),
        (API.replace(" /", " http://127.0.0.1:8233/"), (OWN,)),
        (POST, (OWN, ("origin", "http://evil.example"))),
        (POST, (OWN, ("origin", "null"))),
        (POST, (OWN, ("origin", "http://localhost:8233"))),
        (API, (OWN, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors"))),
        (API, (OWN, ("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors"))),
        (API, (*LINK, ("sec-fetch-dest", "document"))),
        (PAGE, (*LINK, ("sec-fetch-dest", "iframe"))),
        (POST.replace("/api", "/x"), (*LINK, ("sec-fetch-dest", "document"))),
        (POST, (OWN, ("transfer-encoding", "chunked"))),
        (POST, (OWN, ("content-length", "5"), ("content-length", "6"))),
        (POST, (OWN, ("content-length", "99999999999"))),
        ("OPTIONS /api HTTP/1.1", (OWN,)),
        ("GET /api", (OWN,)),
    ],
    ids=[
        "DNS rebinding",
        "another port's name",
        "no host",
        "two hosts",
        "an absolute address",
        "a foreign origin",
        "no origin",
        "another name's origin",
        "an image of a foreign page",
        "a page on another port",
        "a link to the API",
        "a frame",
        "a form of a foreign page",
        "chunks",
        "two lengths",
        "a large body",
        "another method",
        "an old protocol",
    ],
)
def test_every_other_request_is_refused(
    first_line: str, fields: tuple[tuple[str, str], ...]
) -> None:
    assert refused(first_line, *fields)


def test_a_head_is_read_and_written() -> None:
    data = b"GET / HTTP/1.1\r\nHost: a\r\nAccept:  b\t\r\n\r\n"

    head = parse_head(data)

    assert head.values("host") == ["a"]
    assert head.without(["accept"]).to_bytes() == b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"


@pytest.mark.parametrize("line", [b"Host : a", b" folded", b"Host", b"A: b\nHost: c", b"A: \x00"])
def test_a_malformed_head_is_refused(line: bytes) -> None:
    with pytest.raises(MalformedHead):
        parse_head(b"GET / HTTP/1.1\r\n" + line + b"\r\n\r\n")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_head_or_malformed(data: bytes) -> None:
    try:
        head = parse_head(data + b"\r\n\r\n")
    except MalformedHead:
        return
    refusal(head, PORT)
    assert parse_head(head.to_bytes()) == head
