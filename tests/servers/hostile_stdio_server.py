"""MCP server over stdio without the library that dies, hangs or floods, as its argument says."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MODE = sys.argv[1]
FOLDER = Path(sys.argv[2])
NOISE = b"y" * 200 + b"\n"
CHATTER = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n'
TOOL = {
    "name": "echo",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}


def say(line: bytes) -> None:
    os.write(1, line)


def reply(message: dict[str, Any], result: dict[str, Any]) -> None:
    say(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode() + b"\n")


def called(message: dict[str, Any]) -> None:
    text = message["params"]["arguments"].get("text", "")
    if MODE == "dies" and not (FOLDER / "died").exists():
        (FOLDER / "died").touch()
        os._exit(3)
    if MODE == "floods":
        left = 300
        while left or (text == "until told" and not (FOLDER / "told").exists()):
            say(NOISE)
            say(CHATTER)
            left = max(0, left - 1)
    if MODE == "endless":
        say(b'{"jsonrpc":"2.0","id":%d,"result":{"x":"' % message["id"])
    if MODE in ("endless", "nameless"):
        for _ in range(64):
            say(b"z" * 2**16)
        say(b"\n")
    if MODE not in ("hangs", "endless"):
        reply(message, {"content": [{"type": "text", "text": text}]})


def answer(message: dict[str, Any]) -> None:
    match message["method"]:
        case "initialize":
            version = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
            reply(message, {**version, "serverInfo": {"name": MODE, "version": "1"}})
        case "tools/list":
            reply(message, {"tools": [TOOL]})
        case "tools/call":
            called(message)
        case _:
            error = {"code": -32601, "message": "no such method"}
            say(
                json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode() + b"\n"
            )


if MODE == "parent":
    child = subprocess.Popen(["sleep", "600"])
    (FOLDER / "child").write_text(str(child.pid))
for given in sys.stdin:
    asked = json.loads(given)
    if "id" in asked and MODE != "silent":
        answer(asked)
if MODE == "parent":
    child.wait()  # it does not leave when it is asked to
