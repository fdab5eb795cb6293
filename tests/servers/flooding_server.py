"""MCP server without the library that floods as its argument says, over stdio or, with a port, HTTP.

Each mode is one way in which a server could occupy the worker: with its listing, with an answer, or
with messages that nobody asked for.
"""

import gzip
import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODE = sys.argv[1]
OBJECT: dict[str, Any] = {"type": "object"}
READ_ONLY = {"readOnlyHint": True}
CHANGED = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
PING = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'
MIB = 2**20

Body = Iterator[bytes]


def result(asked: dict[str, Any], value: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": value}).encode()


def tool(name: str, schema: dict[str, Any] = OBJECT) -> dict[str, Any]:
    return {"name": name, "inputSchema": schema, "annotations": READ_ONLY}


ECHO = tool("echo", {**OBJECT, "properties": {"text": {"type": "string"}}})
MANY_OBJECTS = {"anyOf": [OBJECT] * 20, "description": "x" * 500}
BIG_SCHEMA = {**OBJECT, "properties": {f"n{n}": MANY_OBJECTS for n in range(50)}}


def listing(cursor: str) -> dict[str, Any]:
    match MODE:
        case "many tools":
            return {
                "tools": [ECHO, *({"name": f"t{n}", "inputSchema": OBJECT} for n in range(20_000))]
            }
        case "invalid tools":
            return {"tools": [ECHO, *({"name": f"t{n}"} for n in range(20_000))]}
        case "big schemas":
            return {"tools": [ECHO, *(tool(f"t{n}", BIG_SCHEMA) for n in range(30))]}
        case "one name":
            return {"tools": [ECHO, *(tool("t") for _ in range(15_000))]}
        case "endless pages":
            number = int(cursor or 0)
            tools = [tool(f"t{number}")] if number else [ECHO]
            return {"tools": tools, "nextCursor": str(number + 1)}
        case "empty pages":
            return {"tools": [] if cursor else [ECHO], "nextCursor": "again"}
        case _:
            return {"tools": [ECHO]}


def content(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def with_value(asked: dict[str, Any], value: bytes) -> bytes:
    shell = result(asked, {**content(""), "structuredContent": {"x": "VALUE"}})
    return shell.replace(b'"VALUE"', value)


def listed(value: bytes, count: int) -> bytes:
    return b"[" + b",".join([value] * count) + b"]"


def named(count: int) -> bytes:
    return b"{" + b",".join(b'"%d":1' % n for n in range(count)) + b"}"


FEW = 95_000
"""As many values as are just read."""
ANSWERS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "deep": lambda asked: with_value(asked, b"[" * 45_000 + b"]" * 45_000),
    "very deep": lambda asked: with_value(asked, b"[" * MIB + b"]" * MIB),
    "lists": lambda asked: with_value(asked, listed(b"[]", FEW // 2)),
    "many lists": lambda asked: with_value(asked, listed(b"[]", 4 * MIB)),
    "numbers": lambda asked: with_value(asked, listed(b"1", FEW)),
    "many numbers": lambda asked: with_value(asked, listed(b"1", 6 * MIB)),
    "names": lambda asked: with_value(asked, named(FEW)),
    "many names": lambda asked: with_value(asked, named(MIB)),
    "texts": lambda asked: with_value(asked, listed(b'"' + b"x" * 120 + b'"', FEW)),
    "quotes": lambda asked: with_value(asked, b'"' + b'\\"' * (9 * MIB) + b'"'),
    "no end of a text": lambda asked: with_value(asked, b'"' + b'\\"' * (9 * MIB)),
    "long numbers": lambda asked: with_value(asked, listed(b"7" * 4_300, 400)),
    "many long numbers": lambda asked: with_value(asked, listed(b"7" * 4_300, 4_000)),
    "a long text": lambda asked: result(asked, content("x" * (19 * MIB))),
    "an oversized text": lambda asked: result(asked, content("x" * (40 * MIB))),
    "blocks": lambda asked: result(asked, {"content": [{"type": "text", "text": "x"}] * 30_000}),
    "wrong shapes": lambda asked: result(asked, {"content": [{"type": "odd"}] * 500}),
    "many wrong shapes": lambda asked: result(asked, {"content": [{"type": "odd"}] * 30_000}),
    "no message": lambda asked: b"[]" * MIB,
}


def unasked() -> Body:
    """What nobody asked for, without an end."""
    number = 0
    while True:
        number += 1
        yield PING % number if MODE == "pings" else CHANGED


FLOODS = {"changes", "pings"}


def answer(asked: dict[str, Any]) -> bytes:
    match asked["method"]:
        case "initialize":
            capabilities = {"tools": {"listChanged": True}}
            version = {"protocolVersion": "2025-06-18", "capabilities": capabilities}
            return result(asked, {**version, "serverInfo": {"name": MODE, "version": "1"}})
        case "tools/list":
            return result(asked, listing((asked.get("params") or {}).get("cursor", "")))
        case "tools/call":
            text = asked["params"]["arguments"].get("text", "")
            plain = MODE not in ANSWERS or text == "plain"
            return result(asked, content(text)) if plain else ANSWERS[MODE](asked)
        case _:
            error = {"code": -32601, "message": "no such method"}
            return json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}).encode()


def serve_pipe() -> None:
    lock = threading.Lock()

    def say(line: bytes) -> None:
        with lock:
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()

    def flood() -> None:
        for line in unasked():
            say(line)

    for given in sys.stdin:
        asked = json.loads(given)
        if "id" in asked and "method" in asked:
            say(answer(asked))
        if MODE in FLOODS and asked.get("method") == "notifications/initialized":
            threading.Thread(target=flood, daemon=True).start()


EVENTS: dict[str, Callable[[], Body]] = {
    "changes": lambda: (b"data: " + line + b"\n\n" for line in unasked()),
    "pings": lambda: (b"data: " + line + b"\n\n" for line in unasked()),
    "comments": lambda: iter(lambda: b": x\n" * 5_000, b""),
    "odd events": lambda: iter(lambda: b"event: odd\ndata: x\n\n" * 1_000, b""),
    "empty events": lambda: iter(lambda: b"data:\n\n" * 5_000, b""),
    "broken events": lambda: iter(lambda: b"data: {\n\n" * 1_000, b""),
    "endless line": lambda: iter(lambda: b"data: " + b"x" * MIB, b""),
    "endless event": lambda: iter(lambda: b"data: x\n" * 10_000, b""),
    "endless field": lambda: iter(lambda: b"id: x\n" * 10_000, b""),
    "line ends": lambda: iter(lambda: b"\r\n" * 10_000, b""),
    "at once again": lambda: iter([b"retry: 0\nid: 1\ndata:\n\n"]),
}
"""Streams of events; a call is answered by such a stream as well, except for the text `plain`."""


class Handler(BaseHTTPRequestHandler):
    """Streams of events for GET and, in the modes of EVENTS, for calls; JSON for the rest."""

    def log_message(self, *_: object) -> None:
        pass

    def _send(self, body: Body, kind: str, **headers: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Mcp-Session-Id", "one")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        try:
            for piece in body:
                self.wfile.write(piece)
        except OSError:
            pass

    def do_GET(self) -> None:
        if MODE in EVENTS:
            self._send(EVENTS[MODE](), "text/event-stream")
        else:
            self.send_error(405)

    def do_DELETE(self) -> None:
        if MODE == "no farewell":
            threading.Event().wait()
        self._send(iter([b""]), "application/json")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in asked or "method" not in asked:
            self.send_response(202)
            self.end_headers()
            return
        is_call = asked["method"] == "tools/call"
        is_plain = is_call and asked["params"]["arguments"].get("text") == "plain"
        if is_call and not is_plain and MODE in EVENTS:
            self._send(EVENTS[MODE](), "text/event-stream")
        elif is_call and not is_plain and MODE == "an endless body":
            self._send(iter(lambda: b" " * MIB, b""), "application/json")
        elif is_call and not is_plain and MODE == "a packed body":
            packed = gzip.compress(b" " * (200 * MIB))
            self._send(iter([packed]), "application/json", Content_Encoding="gzip")
        elif is_call and not is_plain and MODE == "packed events":
            packed = gzip.compress(b"data: x\n" * (20 * MIB))
            self._send(iter([packed]), "text/event-stream", Content_Encoding="gzip")
        elif is_call and not is_plain and MODE in ANSWERS:
            event = b"data: " + answer(asked) + b"\n\n"
            as_events = asked["params"]["arguments"].get("text") == "events"
            body = event if as_events else answer(asked)
            self._send(iter([body]), "text/event-stream" if as_events else "application/json")
        else:
            self._send(iter([answer(asked)]), "application/json")


if len(sys.argv) > 2:
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
else:
    serve_pipe()
