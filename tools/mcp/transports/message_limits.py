"""Read one JSON-RPC message of a tool server within stated limits, so that it cannot stop the loop.

The C code that parses JSON and checks it gives way to nothing else, in a thread neither. So a large
message is counted first, in a thread and in small pieces, and only a message with few values is
parsed. A text of 20 MB is parsed in a tenth of a second; as many empty lists would take seconds.
"""

import asyncio
import re

from mcp.types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic_core import from_json

MAX_MESSAGE_BYTES = 20 * 2**20
"""A longer message is never read; it has room for six images and their text."""
MAX_MESSAGE_VALUES = 100_000
"""Numbers, texts, lists and objects of a message."""
HEAD_BYTES = 2**12
"""The first bytes of an unreadable message, in which its id is looked for."""

_SMALL_BYTES = 2**18
"""A message up to this size cannot have many values, and is not counted."""
_DIGITS_OF_A_VALUE = 20
_TOKEN = re.compile(rb'["\[{,]|[0-9]{20,}')
"""The signs that begin a value or a text, and long numbers."""
_PIECE_OF_TEXT = re.compile(rb'(?:[^"\\]|\\.){1,65536}+', re.DOTALL)
"""At most so much of a text as is matched in a few milliseconds."""
_ID = re.compile(rb'"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{1,200})")')


class UnreadableMessage(ValueError):
    """A message is no JSON-RPC, or too much of it; the text says why."""


async def read_message(data: bytes) -> JSONRPCMessage:
    """Return the message in these bytes; the caller has read no more than the limit of them.

    Raises:
        UnreadableMessage: the bytes are no message, or exceed a limit.
    """
    if len(data) > _SMALL_BYTES and await asyncio.to_thread(_has_many_values, data):
        raise UnreadableMessage(f"the answer has over {MAX_MESSAGE_VALUES:,} values")
    try:
        return _parsed(data)
    except ValueError as odd:
        try:  # bytes that are not UTF-8 affect only their own characters
            return _parsed(data.decode("utf-8", "replace"))
        except ValueError:
            raise UnreadableMessage(f"the answer is no message: {str(odd)[:200]}") from None


def _parsed(data: bytes | str) -> JSONRPCMessage:
    # Not `validate_json`: it would copy the message for each kind of message that it tries.
    return jsonrpc_message_adapter.validate_python(from_json(data), by_name=False)


def _has_many_values(data: bytes) -> bool:
    """Return True if the JSON has more values than allowed; a long number counts as several."""
    values = texts = place = 0
    while token := _TOKEN.search(data, place):
        place = token.end()
        if token[0] == b'"':
            texts += 1
            place = _end_of_text(data, place)
        else:
            values += 1 + (place - token.start()) // _DIGITS_OF_A_VALUE
        if values > MAX_MESSAGE_VALUES or texts > 2 * MAX_MESSAGE_VALUES:
            return True
    return False


def _end_of_text(data: bytes, place: int) -> int:
    while piece := _PIECE_OF_TEXT.match(data, place):
        place = piece.end()
    return place + 1


def too_long(limit_bytes: int) -> str:
    return f"the answer is over {limit_bytes} bytes and was not read"


def request_id_in(head: bytes) -> RequestId | None:
    """Return the id of an unreadable message from its first bytes; None if it is not there."""
    match = _ID.search(head[:HEAD_BYTES])
    if match is None:
        return None
    return int(match[1]) if match[1] else match[2].decode("utf-8", "replace")


def error_reply(request_id: RequestId | None, why: str) -> JSONRPCError:
    """Return an error in the place of an unreadable answer."""
    fault = ErrorData(code=INTERNAL_ERROR, message=why)
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=fault)
