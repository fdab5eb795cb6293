"""Find the answers that an earlier attempt at the job paid for, in a job that was reopened."""

from holdfast.models.calls.call_records import CallKey
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database
from holdfast.storage.core.hot_path_pool import StatementValue
from holdfast.storage.core.named_statements import load_statements

_STATEMENTS = load_statements(__file__)
_ANSWERED_ATTEMPT = _STATEMENTS["answered_attempt"]


class EarlierAttempts(Frozen):
    """Which answers of earlier attempts at the job count as well."""

    since: StopReason | None = None
    """Only answers after the report's last refusal for this reason count; earlier ones led to it.

    None: all count. The end of the job does not tell: a stopped job ends for the reason of its
    stop, whatever its report was refused for.
    """


async def answered_key(db: Database, key: CallKey, role: str, counted: EarlierAttempts) -> CallKey:
    """Return the key of the same call in an earlier attempt that has its answer; else this key.

    The call is the same if its place and its request are.
    """
    if key.attempt == 1:
        return key
    values: dict[str, StatementValue] = {
        "role": role,
        "refused": EventKind.REPORT_REFUSED.value,
        "since": None if counted.since is None else counted.since.value,
    }
    row = await db.row(_ANSWERED_ATTEMPT, key.model_dump() | values)
    return key if row is None else key.model_copy(update={"attempt": row.attempt})
