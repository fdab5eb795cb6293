"""Turns every log line of a process, ours or a library's, into one JSON object without secrets."""

import json
import logging
import os
import re
import sys
from collections.abc import Iterable, MutableMapping
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor

from models.text import escaped_json

_SECRET_NAME = re.compile(
    r"(?i)(api[_-]?key|authorization|password|passwd|secret|credential|(^|_)token$|database_url)"
)
_SECRET_VALUE = re.compile(
    r"sk-[A-Za-z0-9_-]{8,}"  # keys of OpenAI and of those that follow it
    r"|(?i:bearer)\s+[^\s'\",}]+"
    r"|(?<=://)[^\s/@:]*:[^\s/@]+(?=@)"  # user:password in an address
)
_HIDDEN = "***"
_DEEPEST = 6  # what lies deeper is not looked at, and so not shown

_SHORTEST = 8  # of a value that is hidden wherever it stands; hiding `1` would spoil every line
_values: set[str] = set()

# They log one INFO line for each request.
_TALKATIVE = ("httpx2", "httpcore2", "openai", "mcp")


def configure_logs(level: str = "INFO", *, stream: TextIO | None = None) -> None:
    """Sends structlog's and the standard library's lines to `stream` (stderr), one JSON each."""
    hide(value for name, value in os.environ.items() if _SECRET_NAME.search(name))
    before = _before_rendering()
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *before,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=before,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(
                    serializer=_line, default=str, ensure_ascii=False
                ),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    logging.captureWarnings(True)


def hide(values: Iterable[str]) -> None:
    """Hides these values in every line from now on, whatever they stand in."""
    _values.update(each for each in values if len(each) >= _SHORTEST)


def redact(_logger: object, _method: str, event: MutableMapping[str, Any]) -> EventDict:
    """The event with every value that is, holds or is named like a secret hidden."""
    return {name: _shown(name, value) for name, value in event.items()}


def _before_rendering() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        redact,  # after the traceback has become text: it may repeat a secret
    ]


def _shown(name: str, value: object, depth: int = 0) -> object:
    # `_record` and `_from_structlog` belong to the formatter, which takes them out again.
    if name.startswith("_"):
        return value
    if value is not None and _SECRET_NAME.search(name):
        return _HIDDEN
    if isinstance(value, str):
        return _SECRET_VALUE.sub(_HIDDEN, _without_values(value))
    return _shown_inside(name, value, depth)


def _line(event: EventDict, **options: Any) -> str:  # noqa: ANN401 - json's own
    return escaped_json(json.dumps(event, **options))


def _without_values(text: str) -> str:
    for value in _values:
        if value in text:
            text = text.replace(value, _HIDDEN)
    return text


def _shown_inside(name: str, value: object, depth: int) -> object:
    if not isinstance(value, dict | list | tuple):
        return value
    if depth == _DEEPEST:
        return "..."
    if isinstance(value, dict):
        return {key: _shown(str(key), inner, depth + 1) for key, inner in value.items()}
    return [_shown(name, inner, depth + 1) for inner in value]
