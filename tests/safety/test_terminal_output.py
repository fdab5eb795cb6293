"""Tests that foreign text cannot control a terminal on any output path."""

import io
import json
import logging

import pytest
import structlog

from holdfast import __main__ as program
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import (
    console,
    print_json,
    print_json_text,
    print_progress,
    print_text,
)
from holdfast.configuration.json_logs import configure_logs
from holdfast.models.errors import ToolFailed

HOSTILE = "a\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202eb\u2066c\u200fd\re"


def _is_plain(shown: str) -> bool:
    return all(sign.isprintable() or sign == "\n" for sign in shown)


def test_text_tables_and_hints_are_cleaned(capsys: pytest.CaptureFixture[str]) -> None:
    print_text(HOSTILE)
    console().print(plain_table(("what",), [(HOSTILE,)]))
    print_progress(HOSTILE)

    shown = capsys.readouterr()
    assert "owned" in shown.out
    assert _is_plain(shown.out)
    assert _is_plain(shown.err)


def test_json_is_escaped_and_reads_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"said": HOSTILE})
    print_json_text(json.dumps([HOSTILE], ensure_ascii=False))

    shown = capsys.readouterr().out
    assert _is_plain(shown)
    first, _, second = shown.partition("}\n")
    assert json.loads(first + "}") == {"said": HOSTILE}
    assert json.loads(second) == [HOSTILE]


def test_an_error_that_repeats_a_tool_is_cleaned(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing() -> None:
        raise ToolFailed(HOSTILE)

    monkeypatch.setattr("holdfast.cli.app.app", failing)

    assert program._run() == 1
    assert _is_plain(capsys.readouterr().err)


def test_a_line_of_the_log_is_one_line_of_plain_signs() -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    lines = io.StringIO()
    try:
        configure_logs("INFO", stream=lines)
        structlog.get_logger("x").info("tool.said", text=HOSTILE)
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        structlog.reset_defaults()

    assert _is_plain(lines.getvalue())
    assert json.loads(lines.getvalue())["text"] == HOSTILE
