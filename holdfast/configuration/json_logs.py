"""Write every log line of a process as one JSON object with secrets hidden."""

import json
import logging
import os
import re
import sys
from collections.abc import Iterable, MutableMapping
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor

from holdfast.models.text.terminal_text import escape_json
from holdfast.planning.traces.span_ids import trace_id

_SECRET_NAME = re.compile(
    r"(?i)(api[_-]?key|authorization|password|passwd|secret|credential|(^|_)token$|database_url)"
)
_SECRET_VALUE = re.compile(
    r"sk-[A-Za-z0-9_-]{8,}"  # keys of OpenAI and of compatible services
    r"|(?i:bearer)\s+[^\s'\",}]+"
    r"|(?<=://)[^\s/@:]*:[^\s/@]+(?=@)"  # user:password in an address
)
_HIDDEN = "***"
_MAX_DEPTH = 6  # deeper values are left out, because they are not searched for secrets

_MIN_SECRET_LENGTH = 8  # shorter values are not hidden: hiding `1` would make every line unreadable
_secret_values: set[str] = set()

# These loggers write one INFO line for each request.
_VERBOSE_LOGGERS = ("httpx2", "httpcore2", "openai", "mcp")


def configure_logs(level: str = "INFO", *, stream: TextIO | None = None) -> None:
    """Write all lines of structlog and the standard library to `stream` as JSON objects."""
    hide_secrets(value for name, value in os.environ.items() if _SECRET_NAME.search(name))
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
    for name in _VERBOSE_LOGGERS:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    logging.captureWarnings(True)


def configure_quiet_logs() -> None:
    """Unless logs are configured, log only errors: MCP servers in this process log too."""
    if not logging.getLogger().handlers:
        configure_logs("ERROR")


def hide_secrets(values: Iterable[str]) -> None:
    """Hide these values in every later line, also inside longer texts."""
    _secret_values.update(value for value in values if len(value) >= _MIN_SECRET_LENGTH)


def redact(_logger: object, _method: str, event: MutableMapping[str, Any]) -> EventDict:
    """Return the event with all secrets hidden, found by value, pattern or field name."""
    return {name: _redacted(name, value) for name, value in event.items()}


def _before_rendering() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        _add_trace_id,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        redact,  # after the traceback is text, because the text may contain a secret
    ]


def _add_trace_id(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Add the id of the job's trace to a line about a job: its workflow has the job's id."""
    job_id = event.get("job_id", event.get("workflow_id"))
    if isinstance(job_id, str) and job_id:
        event["trace_id"] = trace_id(job_id)
    return event


def _redacted(name: str, value: object, depth: int = 0) -> object:
    # The formatter itself removes its fields `_record` and `_from_structlog`.
    if name.startswith("_"):
        return value
    if value is not None and _SECRET_NAME.search(name):
        return _HIDDEN
    if isinstance(value, str):
        return _SECRET_VALUE.sub(_HIDDEN, _without_secrets(value))
    return _redacted_items(name, value, depth)


def _line(event: EventDict, **options: Any) -> str:  # noqa: ANN401 - json's own
    return escape_json(json.dumps(event, **options))


def _without_secrets(text: str) -> str:
    for value in _secret_values:
        if value in text:
            text = text.replace(value, _HIDDEN)
    return text


def _redacted_items(name: str, value: object, depth: int) -> object:
    if not isinstance(value, dict | list | tuple):
        return value
    if depth == _MAX_DEPTH:
        return "..."
    if isinstance(value, dict):
        return {key: _redacted(str(key), inner, depth + 1) for key, inner in value.items()}
    return [_redacted(name, inner, depth + 1) for inner in value]
