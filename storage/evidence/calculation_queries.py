"""Load the code and the inputs of the calculations that a report cites."""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import and_, select

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.evidence.evidence import Citation
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import value_as_text
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.call_tables import tool_calls
from holdfast.storage.core.tables.evidence_tables import evidence
from holdfast.storage.core.tables.loop_tables import loop_passages
from holdfast.storage.evidence.reading_steps import (
    PASSAGE_OF_EVIDENCE,
    READING_ATTEMPT,
    READING_STEP,
)

_LONGEST_CODE = 2_000
_LONGEST_INPUTS = 1_000


class Calculation(NamedTuple):
    """What a calculation ran, as text for readers; a long one is cut."""

    code: str
    inputs: str


async def load_calculations(
    db: Database, job_id: str, citations: Iterable[Citation]
) -> Mapping[int, Calculation]:
    """Return the calculations among the citations, by the ids of their evidence."""
    ids = [each.evidence_id for each in citations if each.is_calculation]
    if not ids:
        return {}
    of_the_step = and_(
        tool_calls.c.job_id == evidence.c.job_id,
        tool_calls.c.task_id == READING_STEP.element,
        tool_calls.c.attempt == READING_ATTEMPT.element,
        tool_calls.c.status == CallStatus.DONE.value,
    )
    query = (
        select(evidence.c.id, tool_calls.c.request)
        .outerjoin(loop_passages, PASSAGE_OF_EVIDENCE)
        .join(tool_calls, of_the_step)
        .where(evidence.c.job_id == job_id, evidence.c.id.in_(ids))
        .order_by(tool_calls.c.id)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return {row.id: _calculation(_arguments(row.request)) for row in rows}


def _arguments(request: str | None) -> Mapping[str, object]:
    """Return the arguments of a recorded call; none if an imported bundle has other text there."""
    try:
        arguments = json.loads(request or "{}")
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, Mapping) else {}


def _calculation(arguments: Mapping[str, object]) -> Calculation:
    inputs = arguments.get("inputs")
    named = inputs.items() if isinstance(inputs, Mapping) else ()
    told = "; ".join(f"{name} = {value_as_text(value)}" for name, value in named)
    code = str(arguments.get("code") or "").strip()
    return Calculation(shorten_text(code, _LONGEST_CODE), shorten_text(told, _LONGEST_INPUTS))
