"""Run code inside the sandbox and write one JSON answer; import nothing of Holdfast.

The sandbox's Python gets this file as text, so it must not import other modules of ours.
"""

import ast
import contextlib
import io
import json
import linecache
import math
import os
import resource
import sys
import traceback
from typing import Any

_NAME = "code"


class _BoundedOutput(io.TextIOBase):
    """Keeps the first printed characters, and whether there were more."""

    def __init__(self, most: int) -> None:
        self.pieces: list[str] = []
        self.room = most
        self.is_cut = False

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.is_cut = self.is_cut or len(text) > self.room
        kept = text[: self.room]
        if kept:
            self.pieces.append(kept)
            self.room -= len(kept)
        return len(text)


def _limit(limits: dict[str, int]) -> None:
    for name, most in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


def _value(code: str, space: dict[str, object]) -> object:
    tree = ast.parse(code, _NAME)
    end = tree.body[-1] if tree.body else None
    last = end if isinstance(end, ast.Expr) else None
    if last is not None:
        tree.body.pop()
    is_named = "result" in space
    exec(compile(tree, _NAME, "exec"), space)  # noqa: S102 - this is the sandbox
    value: object = None
    if last is not None:
        whole = ast.Expression(last.value)
        value = eval(compile(whole, _NAME, "eval"), space)  # noqa: S307 - as above
    named = None if is_named else space.get("result")
    return value if named is None else named


def _plain(value: Any, deep: int = 60) -> Any:  # noqa: ANN401, C901 - any value, case by case
    """Return the value in JSON types; tables as rows, arrays as lists."""
    if not deep:
        return str(value)[:1000]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(item, deep - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, deep - 1) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_plain(item, deep - 1) for item in value), key=repr)
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return _plain(value.reset_index().to_dict("records"), deep - 1)
    for name in ("to_dict", "tolist", "isoformat"):
        if hasattr(value, name):
            return _plain(getattr(value, name)(), deep - 1)
    return str(value)[:1000]


def _fault() -> str:
    kind, error, trace = sys.exc_info()
    report = traceback.TracebackException(kind, error, trace)  # type: ignore[arg-type]
    report.stack = traceback.StackSummary.from_list(
        [frame for frame in report.stack if frame.filename == _NAME]
    )
    return "".join(report.format(chain=False))


def main() -> None:
    """Read one request from standard input, run its code, write one answer to standard output."""
    request = json.load(sys.stdin)
    answer_to = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    printed = _BoundedOutput(request["most_printed"])
    lines = request["code"].splitlines(keepends=True)
    linecache.cache[_NAME] = (len(request["code"]), None, lines, _NAME)
    answer: dict[str, object] = {}
    _limit(request["limits"])
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            space = {"__name__": "__main__", **request["inputs"]}
            answer["result"] = _plain(_value(request["code"], space))
    except BaseException:
        answer["error"] = _fault()
    answer |= {"printed": "".join(printed.pieces), "is_cut": printed.is_cut}
    answer_to.write(json.dumps(answer))
    answer_to.flush()


if __name__ == "__main__":
    main()
