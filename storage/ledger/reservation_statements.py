"""SQL statements that announce a model call only if its reservation fits the job's caps."""

from typing import LiteralString

from holdfast.storage.core.named_statements import load_statements
from holdfast.storage.ledger.call_statements import (
    ON_CONFLICT_MODEL,
    PAUSED_MODEL,
    RECORDED_MODEL,
    RECOVERED_MODEL,
    REPLACED_MODEL,
    RETURNING_MODEL,
    SETTLED,
)

_STATEMENTS = load_statements(__file__)

LOCK_JOB_ROW: LiteralString = "with " + SETTLED + _STATEMENTS["lock_job_row"]

_ANNOUNCED = (
    PAUSED_MODEL
    + RECORDED_MODEL
    + _STATEMENTS["room"]
    + ON_CONFLICT_MODEL
    + _STATEMENTS["reserved"]
    + RETURNING_MODEL
    + REPLACED_MODEL
)
_FROM_ROOM = _STATEMENTS["from_room"]
OPEN_MODEL_RESERVED: LiteralString = "with " + _ANNOUNCED + _FROM_ROOM
OPEN_MODEL_RESERVED_RECOVERED: LiteralString = "with " + _ANNOUNCED + RECOVERED_MODEL + _FROM_ROOM
