"""MCP server without the library that breaks the protocol in ways the library would not allow."""

import json
import sys
from typing import Any

ANY = {"type": "object"}
TOOLS: list[dict[str, Any]] = [
    {"name": "sound", "inputSchema": {**ANY, "properties": {"q": {"type": "string"}}}},
    {"name": "wrong_keyword", "inputSchema": {**ANY, "properties": {"q": {"type": "strin"}}}},
    {"name": "not_object", "inputSchema": {"type": "string"}},
    {"name": "no_schema"},
    {"name": "far_reference", "inputSchema": {**ANY, "$ref": "http://127.0.0.1:9/schema"}},
    {
        "name": "liar",
        "inputSchema": ANY,
        "outputSchema": {**ANY, "required": ["answer"], "properties": {"answer": ANY}},
    },
    {"name": "own_error", "inputSchema": ANY},
]


def answer(method: str, name: str) -> dict[str, Any]:
    match method, name:
        case "initialize", _:
            return {
                "result": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "raw", "version": "1"},
                }
            }
        case "tools/list", _:
            return {"result": {"tools": TOOLS}}
        case "tools/call", "own_error":
            return {"error": {"code": -32000, "message": "rate limit of the archive reached"}}
        case "tools/call", _:
            content = [{"type": "text", "text": "fine"}]
            return {"result": {"content": content, "structuredContent": {"reply": 1}}}
        case _:
            return {"error": {"code": -32601, "message": "no such method"}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        sys.stdout.write("Loading weights... 100% \x1b[0m\n")
        reply = answer(message["method"], message.get("params", {}).get("name", ""))
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}) + "\n")
        sys.stdout.flush()
