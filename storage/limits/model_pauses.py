"""Pause a model for all workers after its endpoint has answered 429 (too many requests)."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import LiteralString

from holdfast.models.errors import StorageAway
from holdfast.models.frozen_model import Frozen
from holdfast.storage.core.database import Database
from holdfast.storage.core.named_statements import load_statements

_PAUSES_S = (1.0, 60.0)
"""The first and the longest pause if the endpoint names none."""
_FORGOTTEN_S = 60.0
"""Seconds after its end from which a pause counts no more towards the next one."""

_STATEMENTS = load_statements(__file__)
_PAUSE_MODEL: LiteralString = _STATEMENTS["pause_model"]
_END_PAUSE: LiteralString = _STATEMENTS["end_pause"]


class ModelPause(Frozen):
    """The pause of a model, in force or over; it is forgotten once the model has answered."""

    since: datetime
    """The first refusal since the model's last answer."""
    left: timedelta
    """Until its end; not positive if it is over."""

    @property
    def is_in_force(self) -> bool:
        """True if no call to the model may begin now."""
        return self.left > timedelta(0)


async def pause_model(db: Database, model: str, after: timedelta | None) -> timedelta | None:
    """Let no call to the model begin for the time `after`; return the time until that is over.

    Without a time, the pause doubles with each refusal in a row, from 1 s up to a minute. A pause
    that lasts longer stays. If PostgreSQL does not answer, nothing changes.
    """
    values = {
        "model": model,
        "after_s": None if after is None else after.total_seconds(),
        "first_s": _PAUSES_S[0],
        "longest_s": _PAUSES_S[1],
        "forgotten_s": _FORGOTTEN_S,
    }
    with suppress(StorageAway):
        row = await db.row(_PAUSE_MODEL, values)
        return timedelta(seconds=max(row.left_s, 0.0))
    return after


async def end_pause(db: Database, model: str) -> None:
    """Forget the model's pause if it is over; if PostgreSQL does not answer, the next call does."""
    with suppress(StorageAway):
        await db.row(_END_PAUSE, {"model": model})
