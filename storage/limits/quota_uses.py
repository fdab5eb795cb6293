"""Let calls of models begin only while the quotas of their owner and their key have room.

Whether there is room is decided under a lock of the quota, so a quota holds for any number of
workers. A worker looks every two seconds whether there are quotas at all.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import LiteralString
from weakref import WeakKeyDictionary

from sqlalchemy import select

from holdfast.models.errors import HoldfastError, ModelTurnAwaited, StorageAway
from holdfast.storage.core.database import Database
from holdfast.storage.core.named_statements import load_statements
from holdfast.storage.core.tables.quota_tables import quotas

_POLL = timedelta(seconds=20)
"""The longest pause before a call asks again: a quota can be raised."""
_LOOK_EVERY_S = 2.0

_STATEMENTS = load_statements(__file__)
_LOCK_QUOTAS: LiteralString = _STATEMENTS["lock_quotas"]
_TAKE_QUOTA: LiteralString = _STATEMENTS["take_quota"]
_END_USE: LiteralString = _STATEMENTS["end_use"]

_looks: WeakKeyDictionary[Database, tuple[float, bool]] = WeakKeyDictionary()
"""When each database was asked for quotas last, and whether it had any."""


@dataclass
class QuotaUse:
    """What a call takes: expected amounts until the caller has set what it took."""

    tokens: int
    cost: Decimal | None = field(default=None)
    """None: unknown."""


@asynccontextmanager
async def quota_use(db: Database, call_id: int, expected: QuotaUse) -> AsyncIterator[QuotaUse]:
    """Count the call towards the quotas of its job's owner and key.

    A call that fails with an error of ours took nothing. A call that is cut off, or that ends while
    PostgreSQL is away, keeps what was expected of it.

    Raises:
        ModelTurnAwaited: a quota has no room; the error says which, and until when.
    """
    if not await _has_quotas(db):
        yield expected
        return
    if not await take_quota(db, call_id, expected):
        yield expected
        return
    use = QuotaUse(expected.tokens, expected.cost)
    try:
        yield use
    except HoldfastError:
        use.tokens, use.cost = 0, Decimal(0)
        raise
    finally:
        cost = None if use.cost is None else str(use.cost)
        with suppress(StorageAway):  # the answer is paid for, and must not be lost for a count
            await db.row(_END_USE, {"call_id": call_id, "tokens": use.tokens, "cost": cost})


async def take_quota(db: Database, call_id: int, expected: QuotaUse) -> bool:
    """Take the room of a call in its quotas; False: no quota counts the call.

    Raises:
        ModelTurnAwaited: a quota has no room.
    """
    cost = None if expected.cost is None else str(expected.cost)
    values = {"call_id": call_id, "tokens": expected.tokens, "cost": cost}
    row = await db.row(_TAKE_QUOTA, values, after=_LOCK_QUOTAS)
    if row.what is None:
        return row.taken is not None
    left = timedelta(seconds=row.left_s)
    raise ModelTurnAwaited(
        f"the quota of {row.kind} {row.subject!r} has no room before midnight UTC: "
        f"{_reason(row.what, row.used, row.most)}; an administrator can change it",
        after=min(left, _POLL),
    )


def _reason(what: str, used: str, most: str) -> str:
    if what == "price":
        return "it limits the cost, and the model's price is not in holdfast.toml"
    unit = "in money" if what == "cost" else what
    return f"{used} of {most} {unit} are used today, or held by calls under way"


async def _has_quotas(db: Database) -> bool:
    looked_at, has_any = _looks.get(db, (0.0, False))
    if not looked_at or time.monotonic() - looked_at > _LOOK_EVERY_S:
        async with db.reading() as connection:
            query = select(quotas.c.kind).limit(1)
            has_any = (await connection.execute(query)).first() is not None
        _looks[db] = (time.monotonic(), has_any)
    return has_any
