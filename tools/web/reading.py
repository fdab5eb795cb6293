"""The process in which foreign bytes are read: no secrets, little memory, killed when it hangs.

Over its standard input and output: a line of JSON that says what comes and how many bytes, then
these; back comes a line with a number of bytes, then JSON with the page or what is wrong with it.
"""

import json
import os
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from models.errors import BadInput
from tools.web.kinds import Kind
from tools.web.readable import readable

_MEMORY_BYTES = 2 * 2**30


def main() -> None:
    """Read pages until the other side closes."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not look like an answer
    _bound_memory()
    while line := requests.readline():
        asked = json.loads(line)
        _send(answers, _answer(asked, requests.read(asked["size"])))


def _answer(asked: dict[str, Any], body: bytes) -> dict[str, Any]:
    try:
        page = readable(Kind(asked["kind"]), asked["address"], asked["charset"], body)
    except BadInput as error:
        return {"wrong": str(error)}
    except (MemoryError, RecursionError):
        return {"wrong": f"{asked['address'][:300]!r} takes too much memory to read"}
    return {"page": page.model_dump()}


def _send(answers: BinaryIO, answer: dict[str, Any]) -> None:
    packed = json.dumps(answer).encode()
    answers.write(b"%d\n" % len(packed) + packed)
    answers.flush()


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has none
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or most > _MEMORY_BYTES:
        with suppress(ValueError, OSError):  # macOS does not bound it
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, most))


if __name__ == "__main__":
    main()
