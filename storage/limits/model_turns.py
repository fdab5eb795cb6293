"""Give each call to a model its turn under the limits that all workers share.

The turns of the last minute are rows; whether there is room is decided under a lock of the model.
So the limits hold for any number of workers, and a worker that dies leaves nothing behind that a
minute, the same call when it is sent again, or the end of its lease does not clear.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import LiteralString

from holdfast.models.calls.model_config import ModelConfig
from holdfast.models.calls.model_requests import Completion, ModelRequest
from holdfast.models.errors import ModelTurnAwaited, StorageAway
from holdfast.planning.text.token_estimates import request_tokens
from holdfast.storage.core.database import Database
from holdfast.storage.core.named_statements import load_statements

WINDOW_S = 61.0
"""A minute, and a second for requests that travel at different speeds."""
_POLL_S = 1.0
"""Pause of a call that waits until another one has ended."""
_LEASE_RESERVE_S = 30.0
"""A turn is open for the call's longest time and this, unless the call ends it."""

_EXPECTED_OUTPUT = 1_000  # tokens, as for reservations

_STATEMENTS = load_statements(__file__)
_LOCK_MODEL: LiteralString = _STATEMENTS["lock_model"]
_TAKE_TURN: LiteralString = _STATEMENTS["take_turn"]
_END_TURN: LiteralString = _STATEMENTS["end_turn"]

_REASONS = {
    "requests": "its limit of {requests} requests a minute",
    "tokens": "its limit of {tokens} tokens a minute",
    "calls": "its limit of {calls} calls at once",
}


@dataclass(frozen=True)
class ModelTurn:
    """The turn of a call, or how long the call waits for it."""

    id: int | None
    """The row of the turn; None if it waits."""
    wait: timedelta | None = None
    reason: str = ""
    """What it waits for."""


async def take_turn(
    db: Database,
    model: str,
    call_id: int,
    config: ModelConfig,
    tokens: int,
) -> ModelTurn:
    """Take the turn of a call that is expected to have so many tokens, if there is room now.

    Raises:
        StorageAway: PostgreSQL does not answer.
    """
    row = await db.row(
        _TAKE_TURN,
        {
            "model": model,
            "call_id": call_id,
            "tokens": tokens,
            "requests": config.requests_per_minute,
            "most_tokens": config.tokens_per_minute,
            "calls": config.calls_at_once,
            "window_s": WINDOW_S,
            "poll_s": _POLL_S,
            "lease_s": config.timeout_s + _LEASE_RESERVE_S,
        },
        after=_LOCK_MODEL,
    )
    if row.why is None:
        return ModelTurn(row.id)
    reason = _REASONS[row.why].format(
        requests=config.requests_per_minute,
        tokens=config.tokens_per_minute,
        calls=config.calls_at_once,
    )
    return ModelTurn(None, timedelta(seconds=row.wait_s), reason)


async def end_turn(db: Database, turn: ModelTurn, tokens: int | None) -> None:
    """End the turn; the call took so many tokens, None if that is unknown.

    Raises:
        StorageAway: PostgreSQL does not answer; the lease ends the turn then.
    """
    if turn.id is not None:
        await db.row(_END_TURN, {"id": turn.id, "tokens": tokens})


@dataclass
class OpenTurn:
    """The turn of a call that is under way."""

    turn: ModelTurn
    completion: Completion | None = None
    """Set by the caller once there is a reply."""


@asynccontextmanager
async def model_turn(
    db: Database,
    request: ModelRequest,
    call_id: int,
    limits: ModelConfig,
) -> AsyncIterator[OpenTurn]:
    """Take a turn for the call, and end it.

    Raises:
        ModelTurnAwaited: there is no room now; the error says what for, and until when.
    """
    expected = request_tokens(request) + min(
        limits.max_output_tokens or _EXPECTED_OUTPUT, _EXPECTED_OUTPUT
    )
    turn = await take_turn(db, request.model, call_id, limits, expected)
    if turn.wait is not None:
        until = datetime.now(UTC) + turn.wait
        raise ModelTurnAwaited(
            f"model {request.model!r} waits for {turn.reason}, until {until:%H:%M:%S} UTC",
            after=turn.wait,
        )
    open_turn = OpenTurn(turn)
    try:
        yield open_turn
    finally:
        with suppress(StorageAway):  # the lease ends it
            await end_turn(db, turn, _tokens(open_turn.completion))


def _tokens(completion: Completion | None) -> int | None:
    return None if completion is None else completion.input_tokens + completion.output_tokens
