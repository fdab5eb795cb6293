"""Run the child process that reads untrusted pages with little memory and no secrets."""

from typing import Any

from holdfast.models.errors import BadInput
from holdfast.tools.sandbox.answering_loop import answer_requests
from holdfast.tools.web.content_types import BodyKind
from holdfast.tools.web.page_text import extract_page_text


def main() -> None:
    """Read pages until standard input ends."""
    answer_requests(_answer)


def _answer(request: dict[str, Any], body: bytes) -> dict[str, Any]:
    address = request["address"]
    try:
        page = extract_page_text(BodyKind(request["kind"]), address, request["charset"], body)
    except BadInput as error:
        return {"wrong": str(error)}
    except (MemoryError, RecursionError):
        return {"wrong": f"{address[:300]!r} takes too much memory to read"}
    return {"page": page.model_dump()}
