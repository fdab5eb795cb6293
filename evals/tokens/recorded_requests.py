"""Read recorded requests of jobs: JSON lines with role, messages and reply, or with a typed task.

Three forms are read: `{"role": ..., "messages": [...]}`, a request as it was sent;
`{"role": ..., "task": {...}}`, the typed task of a role, whose prompt today's code renders; and a
turn of a loop, `{"role": "loop_agent", "task": {...}, "dialogue": [...], "functions": [...]}`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen

PLAYS = Path(__file__).parent / "data" / "plays"
"""Jobs over texts of our own that somebody played: each typed input with its reply, in order."""
DEFAULT_FILE = Path(__file__).parent / "data" / "role_inputs.jsonl"
"""Typed inputs of every role, from jobs over texts of our own."""
_NO_ROLE = "loop_agent"
"""Rows without a role are turns of a loop's sketch."""


class RecordedRequest(Frozen):
    """One request of a recorded job; either `messages` or `task` is given."""

    role: str = _NO_ROLE
    messages: tuple[dict[str, Any], ...] = ()
    tools: tuple[dict[str, Any], ...] | None = None
    """Function schemas that were sent with the messages."""
    task: dict[str, Any] | None = None
    dialogue: tuple[dict[str, Any], ...] = ()
    """Of a loop's turn: the messages after the first one, with tool calls and their results."""
    functions: tuple[str, ...] = ()
    """Of a loop's turn: the names of the functions that were offered."""
    reply: JsonValue = None
    """What was answered; only plays have it, and it is not counted."""

    @property
    def prompt(self) -> str:
        """The typed task as JSON: the first user message."""
        if self.task is not None:
            return json.dumps(self.task, ensure_ascii=False)
        turns = (each for each in self.messages if each.get("role") == "user")
        return str(next(turns, {}).get("content") or "")

    @property
    def later_messages(self) -> Sequence[str]:
        """The texts after the task: replies, results, and what was wrong with replies."""
        if self.dialogue:
            return [_text(each) for each in self.dialogue]
        past = [i for i, each in enumerate(self.messages) if each.get("role") == "user"][:1]
        later = self.messages[past[0] + 1 :] if past else ()
        return [_text(each) for each in later]


def read_requests(paths: Iterable[Path]) -> list[RecordedRequest]:
    """The requests in the files; of a folder, those of all its `.jsonl` files.

    Raises:
        BadInput: a file is missing, has no requests, or has a row in another form.
    """
    requests = [each for path in paths for file in _files(path) for each in _rows(file)]
    if not requests:
        raise BadInput("there are no recorded requests; name a folder with `.jsonl` files")
    return requests


def _files(path: Path) -> Sequence[Path]:
    return sorted(path.glob("*.jsonl")) if path.is_dir() else [path]


def _rows(file: Path) -> Iterator[RecordedRequest]:
    try:
        lines = file.read_text("utf-8").splitlines()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        try:
            yield RecordedRequest.model_validate(_known_fields(json.loads(line)))
        except ValueError as error:
            raise BadInput(f"line {number} of {file} is no recorded request: {error}") from error


def _known_fields(row: object) -> dict[str, Any]:
    if not isinstance(row, dict) or not ("messages" in row or "task" in row):
        raise ValueError("it has neither `messages` nor `task`")
    return {name: row[name] for name in RecordedRequest.model_fields if name in row}


def _text(message: dict[str, Any]) -> str:
    calls = message.get("tool_calls")
    called = json.dumps([each["function"] for each in calls], ensure_ascii=False) if calls else ""
    return f"{message.get('content') or ''}{called}"
