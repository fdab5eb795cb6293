"""The readers of foreign text that are fuzzed, each with its typed refusals and its seeds."""

import asyncio
import json
import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import httpx2
from openai import OpenAIError
from protego import Protego
from pydantic import JsonValue

from holdfast.models.calls.function_calls import FunctionCalls
from holdfast.models.errors import BadInput, ToolBusy, ToolFailed, Unresolved
from holdfast.models.plans.plan_drafts import PlanDraft
from holdfast.models.text.reference_marks import disarm_references, replace_references
from holdfast.models.text.report_marks import without_marks
from holdfast.models.text.sentences import sentence_spans
from holdfast.models.text.storable_text import storable_text
from holdfast.models.text.terminal_text import single_line
from holdfast.planning.plans.entity_references import resolve_references
from holdfast.planning.plans.plan_edits import parse_plan
from holdfast.planning.schemas.bounded_schema import BoundedSchema
from holdfast.planning.schemas.counted_steps import UncheckableSchema
from holdfast.planning.text.folded_text import fold_text
from holdfast.roles.dialogue.reply_reader import ReplyInvalid, read_reply
from holdfast.roles.endpoints.chat_replies import parse_reply
from holdfast.roles.endpoints.responses.streamed_response import StreamedResponse
from holdfast.roles.endpoints.streaming.endpoint_api import GrowingReply
from holdfast.roles.endpoints.streaming.event_stream import EventReader
from holdfast.roles.endpoints.streaming.streamed_reply import StreamedReply
from holdfast.tools.documents.document_reader import read_document
from holdfast.tools.mcp.transports.message_limits import UnreadableMessage, read_message
from holdfast.tools.web.content_types import BodyKind
from holdfast.tools.web.http_client.address_rules import AllowedHosts, parse_target
from holdfast.tools.web.page_text import extract_page_text
from holdfast.tools.wikipedia.mediawiki_answers import (
    article_title,
    parse_api_answer,
    parse_page,
    parse_search_hits,
    parse_suggestion,
)
from tests.fuzzing.document_seeds import (
    DOCX_TEXT,
    XLSX_SHEET,
    part_of,
    small_docx,
    small_pdf,
    small_xlsx,
    with_part,
)
from tests.support.services.processor_time import known_machine_s

LONGEST_STALL_S = 0.5
"""Seconds of processor time for what is read on the event loop."""
LONGEST_READ_S = 5.0
"""The same for what is read in a thread or in a process of its own."""

_STEERING = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of characters that steer a terminal, or are half of one."""
_MEMORY: dict[str, dict[str, JsonValue]] = {
    "T1": {"x": [1, "two", {"three": [3, None]}], "y": {"a": 1.5}}
}
_REQUEST = httpx2.Request("POST", "https://example.org/v1/chat/completions")
_ADDRESS = "https://example.org/page"


class TooSlow(Exception):
    """An input was read for too long."""


@dataclass(frozen=True)
class FuzzTarget:
    """A reader, inputs to begin with, and what it may raise."""

    reader: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    refusals: tuple[type[Exception], ...] = ()
    longest_s: float = LONGEST_STALL_S

    def read(self, data: bytes) -> None:
        """Read an input.

        Raises:
            TooSlow: it took longer than `longest_s` of processor time.
            Exception: something else than a typed refusal.
        """
        start = time.thread_time()
        with suppress(*self.refusals):
            self.reader(data)
        took = time.thread_time() - start
        if took > self.longest_s and (took := known_machine_s(took)) > self.longest_s:
            raise TooSlow(f"{took:.1f} s; the limit is {self.longest_s} s")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _texts(data: bytes) -> None:
    """Every function that cleans or cuts a text."""
    text = storable_text(_text(data))
    text.encode()
    once = without_marks(text)
    assert without_marks(once) == once
    assert not _STEERING & set(map(unicodedata.category, single_line(text)))
    places = sentence_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in places)
    fold_text(text).find(fold_text(text[: len(text) // 2]))


def _stream(data: bytes, reply: GrowingReply) -> None:
    """The bytes as two pieces, cut in the middle."""
    reader, middle = EventReader(), len(data) // 2
    for piece in (data[:middle], data[middle:]):
        for event in reader.feed(piece):
            reply.add(event)
    for event in reader.end():
        reply.add(event)
    parse_reply(reply.body())


def _references(data: bytes) -> None:
    text = _text(data)
    disarm_references(text)
    replace_references(text, str.upper)
    resolve_references(text, _MEMORY)
    resolve_references(f"<JSON_PATH>{text}</JSON_PATH>", _MEMORY)


def _schema(data: bytes) -> None:
    """The first line is a schema, the rest a value."""
    schema, _, value = data.partition(b"\n")
    try:
        read_schema, read_value = json.loads(schema), json.loads(value or b"0")
    except (ValueError, RecursionError):
        return
    if isinstance(read_schema, dict):
        BoundedSchema(read_schema).fault(read_value)


def _wiki(data: bytes) -> None:
    answer = parse_api_answer(data)
    parse_page(answer)
    parse_search_hits(answer, _ADDRESS)
    parse_suggestion(answer)


def _robots(data: bytes) -> None:
    Protego.parse(_text(data)).can_fetch(_ADDRESS, "holdfast")


def _document(ending: str) -> Callable[[bytes], object]:
    return lambda data: read_document(f"paper{ending}", data)


def _office(ending: str, package: bytes, part: str) -> Callable[[bytes], object]:
    return lambda data: read_document(f"paper{ending}", with_part(package, part, data))


def _page(kind: BodyKind) -> Callable[[bytes], object]:
    return lambda data: extract_page_text(kind, _ADDRESS, "", data)


_PLAN = b"""- task_id: T1
  description: "Find the year of <JSON_PATH>T1.x[0]</JSON_PATH>"
  depends_on: []
  expected_output: {year: {type: integer}}
"""
_HTML = (
    b"<html lang=en><head><title>A &amp; B</title><meta charset=utf-8></head><body><h1>A</h1>"
    b"<p>It was lit in <b>1932</b>.</p><table><tr><th>Name<th>Height<tr><td rowspan=2>Eddystone"
    b"<td>49 m</table><ul><li>one<ul><li>two</ul></ul><pre>x</pre></body></html>"
)
_ANSWER = (
    b'<think>x</think>```json\n{"calls": [{"name": "search", "arguments": {"queries": ["a"]}}],'
    b" // note\n 'more': True,}\n```"
)

TARGETS: dict[str, FuzzTarget] = {
    "texts": FuzzTarget(
        _texts, ("Dr. A. Smith wrote „it“ [1]. It (e.g. 3.5) fi… [E1, E2]! \u202e\x1b[1m".encode(),)
    ),
    "references": FuzzTarget(
        _references,
        (
            b"see <JSON_PATH>T1.x[*].three</JSON_PATH> and <JSON_PATH>T1.y['a']</JSON_PATH>",
            b"T1.x[?@.three[0] == 3]",
            b"T1..three",
            b"T1.x[-1:0:-1]",
        ),
        (BadInput, Unresolved),
    ),
    "edited plans": FuzzTarget(lambda data: parse_plan(_text(data)), (_PLAN,), (BadInput,), 1.0),
    "plan replies": FuzzTarget(
        lambda data: read_reply(_text(data), PlanDraft), (_PLAN, _ANSWER), (ReplyInvalid,), 5.0
    ),
    "call replies": FuzzTarget(
        lambda data: read_reply(_text(data), FunctionCalls),
        (_ANSWER, b'{"calls":[{"name":"answer","arguments":"{}"}]}', b"calls:\n- name: ask\n"),
        (ReplyInvalid,),
        5.0,
    ),
    "endpoint replies": FuzzTarget(
        lambda data: parse_reply(_text(data)),
        (
            (
                b'{"choices":[{"message":{"content":"a\\ud800b","tool_calls":[{"function":{"name":"f",'
                b'"arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}'
            ),
        ),
        (ValueError,),
    ),
    "streamed replies": FuzzTarget(
        lambda data: _stream(data, StreamedReply(_REQUEST)),
        (
            (
                b'data: {"choices":[{"delta":{"content":"a\\ud800"}}]}\n\n: ping\r\n'
                b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f",'
                b'"arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}\n\n'
                b"data: [DONE]\n\n"
            ),
            b'event: error\ndata: {"message":"gone","code":"503"}\n\n',
            b'error: {"code":400,"message":"too long"}\n\n',
        ),
        (OpenAIError, ValueError),
    ),
    "streamed responses": FuzzTarget(
        lambda data: _stream(data, StreamedResponse(_REQUEST)),
        (
            (
                b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":'
                b'"a"}\n\ndata: {"type":"response.completed","response":{"id":"r","status":"completed",'
                b'"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]},'
                b'{"type":"function_call","name":"f","arguments":"{}"}],"usage":{"input_tokens":1}}}\n\n'
            ),
            b'data: {"type":"response.failed","response":{"status":"failed","error":{"code":"x"}}}\n\n',
        ),
        (OpenAIError,),
    ),
    "tool messages": FuzzTarget(
        lambda data: asyncio.run(read_message(data)),
        (
            b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}]}}',
            b'{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"no"}}',
        ),
        (UnreadableMessage,),
    ),
    "schemas": FuzzTarget(
        _schema,
        (
            (
                b'{"$defs":{"a":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/a"}]}},"type":"object",'
                b'"properties":{"x":{"$ref":"#/$defs/a"}},"required":["x"]}\n{"x":[1]}'
            ),
            b'{"type":"array","uniqueItems":true,"items":{"multipleOf":0.1,"maximum":3}}\n[1,1.5]',
            b'{"patternProperties":{"^a":{"minLength":2}},"unevaluatedProperties":false}\n{"a":1}',
        ),
        (UncheckableSchema,),
    ),
    "article titles": FuzzTarget(
        lambda data: article_title(_text(data)),
        (b"https://en.wikipedia.org/wiki/Shirley_Temple?x#y", b"Shirley Temple"),
        (BadInput,),
    ),
    "addresses": FuzzTarget(
        lambda data: parse_target(_text(data), AllowedHosts.of(())),
        (b"https://example.org:443/a?b=c#d", b"http://[::ffff:127.0.0.1]/", b"http://0x7f.1/"),
        (ToolFailed,),
    ),
    "robots.txt": FuzzTarget(
        _robots, (b"User-agent: *\nDisallow: /a*b$\nAllow: /\nCrawl-delay: 2\n",), (), 1.0
    ),
    "wiki answers": FuzzTarget(
        _wiki,
        (
            (
                b'{"query":{"pages":[{"title":"A","extract":"b","revisions":[{"timestamp":"2020"}]}],'
                b'"search":[{"title":"A","snippet":"<b>x</b>"}],"searchinfo":{"suggestion":"a"}}}'
            ),
            b'{"error":{"code":"maxlag","info":"busy"}}',
        ),
        (ToolBusy, ToolFailed),
    ),
    "web pages": FuzzTarget(_page(BodyKind.HTML), (_HTML,), (BadInput,), LONGEST_READ_S),
    "wiki pages": FuzzTarget(_page(BodyKind.WIKI), (_HTML,), (BadInput,), LONGEST_READ_S),
    "text pages": FuzzTarget(
        _page(BodyKind.TEXT), (b"a\n", "Größe".encode("utf-16")), (BadInput,), LONGEST_READ_S
    ),
    "HTML files": FuzzTarget(_document(".html"), (_HTML,), (BadInput,), LONGEST_READ_S),
    "Markdown files": FuzzTarget(
        _document(".md"),
        (b"---\ntitle: A\ndate: 2020-01-02\n---\n# A\n\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",),
        (BadInput,),
        LONGEST_READ_S,
    ),
    "CSV files": FuzzTarget(
        _document(".csv"),
        (b'name;height\n"Eddy;stone";49\n', b"a,b\n1,2\n"),
        (BadInput,),
        LONGEST_READ_S,
    ),
    "PDF files": FuzzTarget(_document(".pdf"), (small_pdf(),), (BadInput,), LONGEST_READ_S),
    "DOCX files": FuzzTarget(
        _office(".docx", small_docx(), DOCX_TEXT),
        (part_of(small_docx(), DOCX_TEXT),),
        (BadInput,),
        LONGEST_READ_S,
    ),
    "XLSX files": FuzzTarget(
        _office(".xlsx", small_xlsx(), XLSX_SHEET),
        (part_of(small_xlsx(), XLSX_SHEET),),
        (BadInput,),
        LONGEST_READ_S,
    ),
}
