"""Run the child process that reads untrusted bytes with little memory and no secrets.

Standard input: a line of JSON with the address, format and size of a body, then the body.
Standard output: a line with a size, then that many bytes of JSON with the page or an error.
"""

import json
import os
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from holdfast.models.errors import BadInput
from holdfast.tools.web.content_types import BodyKind
from holdfast.tools.web.page_text import extract_page_text

_MEMORY_BYTES = 2 * 2**30


def main() -> None:
    """Read pages until standard input ends."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a library must not look like an answer
    _bound_memory()
    while line := requests.readline():
        asked = json.loads(line)
        _send(answers, _answer(asked, requests.read(asked["size"])))


def _answer(asked: dict[str, Any], body: bytes) -> dict[str, Any]:
    try:
        page = extract_page_text(BodyKind(asked["kind"]), asked["address"], asked["charset"], body)
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
