"""Answer the calls of a fork with what the jobs that it came from recorded.

A fork is a job of its own with a ledger of its own. A call whose request an origin recorded gets
that answer: the answer is copied into the fork's ledger, so the origin may be removed later. Such a
call costs nothing and is counted as a repeated call.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from pydantic import ValidationError

from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.model_requests import ModelRequest
from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.storage.core.database import Database
from holdfast.storage.core.database_outage import retry_until_available
from holdfast.storage.core.hot_path_pool import StatementValue
from holdfast.storage.core.named_statements import load_statements
from holdfast.storage.ledger.recorded_answers import recorded_answer
from holdfast.storage.ledger.recorded_requests import RequestComparison, recorded_request

_STATEMENTS = load_statements(__file__)
_SHOWN = 80
"""Characters of a difference that a message shows."""


async def inherited_model_call(
    db: Database,
    origins: tuple[str, ...],
    key: CallKey,
    request: ModelRequest,
    is_same: RequestComparison,
) -> int | None:
    """Return the number of the origins' call that answers this request; None if there is none.

    A call with the same request counts wherever it was made. Of the calls in the same place, one
    counts that asks for the same in the words of another release.
    """
    facts: dict[str, StatementValue] = {"origins": json.dumps(origins), "role": request.role}
    row = await db.row(_STATEMENTS["inherited_model"], facts | {"request_hash": key.request_hash})
    if row is not None:
        return int(row.id)
    place: dict[str, StatementValue] = {"task_id": key.task_id, "part": key.part}
    found = await db.row(_STATEMENTS["requests_in_place"], facts | place)
    number = recorded_request(found.recorded, is_same)
    return None if number is None else int(number)


async def missing_recording(
    db: Database, origins: tuple[str, ...], key: CallKey, request: ModelRequest
) -> str:
    """Return that no origin recorded the request, with the nearest recording and where it differs.

    Nearest is the recorded request of the role that agrees with this one for longest.
    """
    facts: dict[str, StatementValue] = {"origins": json.dumps(origins), "role": request.role}
    found = await db.row(_STATEMENTS["requests_of_role"], facts)
    asked = _words(request)
    place = f"the {request.role}" + (f" in {key.task_id}" if key.task_id else "")
    read = {number: (task, _recorded_request(content)) for number, task, content in found.recorded}
    known = [(number, task, _words(each)) for number, (task, each) in read.items() if each]
    if not known:
        return f"no recording answers {place}: the record has no call of that role"
    nearest = _nearest(asked, known)
    same = read[nearest.number][1]
    difference = nearest.difference
    if same is not None and _words(same) == asked:
        difference = _differing_field(same, request)
    return (
        f"no recording answers {place}; the nearest is {nearest.place}, which differs {difference}"
    )


async def missing_tool_recording(
    db: Database, origins: tuple[str, ...], tool: str, arguments: dict[str, Any]
) -> str:
    """Return that no origin answered this call of a tool, with the nearest one.

    Nearest is the recorded call whose arguments, as JSON in the order of their names, agree for
    longest.
    """
    facts: dict[str, StatementValue] = {"origins": json.dumps(origins), "tool": tool}
    found = await db.row(_STATEMENTS["requests_of_tool"], facts)
    if not found.recorded:
        return f"the record has no call of {tool} that was answered"
    recorded = ((number, task, _in_order(request)) for number, task, request in found.recorded)
    nearest = _nearest(_as_json(arguments), recorded)
    return (
        f"the record has no answer of {tool} to these arguments; the nearest is {nearest.place}, "
        f"which differs {nearest.difference}"
    )


class _Nearest(NamedTuple):
    """The recorded request that agrees with another one for longest."""

    number: int
    place: str
    difference: str


def _nearest(asked: str, recorded: Iterable[tuple[int, str, str]]) -> _Nearest:
    """Return the nearest of recorded requests, each with the number of its call and its task."""
    known = ((_agreement(asked, words), number, task, words) for number, task, words in recorded)
    same, number, task, words = max(known)
    return _Nearest(
        number,
        f"call {number}" + (f" of {task}" if task else ""),
        f"from character {same:,}: recorded {words[same : same + _SHOWN]!r}, "
        f"now {asked[same : same + _SHOWN]!r}",
    )


def _differing_field(recorded: ModelRequest, request: ModelRequest) -> str:
    """Return what differs between two requests whose messages say the same."""
    if recorded.model != request.model:
        return f"in its model: recorded {recorded.model!r}, now {request.model!r}"
    if recorded.messages != request.messages:
        return "in how its words are divided into messages"
    return "in the form of the answer or the functions, which the record does not keep"


def _words(request: ModelRequest) -> str:
    """Return what a request says after its instructions, then the instructions."""
    first, *others = request.messages
    return "\n".join(each.content for each in (*others, first))


def _as_json(arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True)


def _in_order(recorded: str) -> str:
    """Return recorded arguments with their fields in the order of their names."""
    try:
        return _as_json(json.loads(recorded))
    except (ValueError, RecursionError):
        return recorded  # An imported bundle may have any text here.


def _agreement(one: str, other: str) -> int:
    """Return how many characters from the beginning are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _recorded_request(content: str) -> ModelRequest | None:
    try:
        return ModelRequest.model_validate_json(content)
    except ValidationError:
        return None  # an earlier release wrote another form


async def inherit_model_answer(db: Database, row_id: int, origin: int) -> Any:  # noqa: ANN401 - a named tuple of columns
    """Copy the answer of an origin's call to an announced call; return its row.

    None: the origin was removed meanwhile.
    """
    values: dict[str, StatementValue] = {"id": row_id, "origin": origin}
    return await retry_until_available(lambda: db.row(_STATEMENTS["inherit_model"], values))


async def inherit_tool_answer(
    db: Database, origins: tuple[str, ...], row_id: int, tool: str, request_hash: str
) -> ToolAnswer | None:
    """Copy the answer that an origin recorded for a tool call; None if no origin has one."""
    values: dict[str, StatementValue] = {
        "origins": json.dumps(origins),
        "id": row_id,
        "tool": tool,
        "request_hash": request_hash,
    }
    row = await retry_until_available(lambda: db.row(_STATEMENTS["inherit_tool"], values))
    return None if row is None else recorded_answer(row.response, tool)
