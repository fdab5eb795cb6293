"""Call a model once neither its limits nor a pause stands against it, for all workers together."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from holdfast.activities.runtime.activity_services import ModelRegistry
from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.calls.model_requests import Completion, ModelRequest
from holdfast.models.errors import ModelBusy, ModelPaused
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.planning.text.token_estimates import request_tokens
from holdfast.storage.core.database import Database
from holdfast.storage.limits.model_pauses import ModelPause, end_pause, pause_model
from holdfast.storage.limits.model_turns import model_turn
from holdfast.storage.limits.quota_uses import QuotaUse, quota_use

_SPREAD = 0.1
"""The longest part of its wait that a call waits in addition, so that not all return together."""
_LONGEST_SPREAD_S = 5.0
_EXPECTED_OUTPUT = 1_000
"""Tokens that a quota holds for an answer until the answer is there."""


@dataclass(frozen=True)
class ModelAdmission:
    """The way of a call to its model, which may be closed."""

    db: Database
    models: ModelRegistry

    async def complete(
        self,
        request: ModelRequest,
        call_id: int,
        pause: ModelPause | None,
        progress: CallProgress,
    ) -> Completion:
        """The model's reply to a call that the ledger has announced, with the pause it has found.

        Raises:
            ModelPaused: the endpoint refuses the model's requests for now; this one was not sent.
            ModelTurnAwaited: a quota or the model's limits have no room now; the request was not
                sent.
            HoldfastError: as `Model.complete`.
        """
        if pause is not None and pause.is_in_force:
            raise _paused(request.model, pause)
        try:
            completion = await self._complete_in_quota(request, call_id, progress)
        except ModelBusy as busy:
            if busy.is_throttled:
                busy.after = await pause_model(self.db, request.model, busy.after)
            raise
        if pause is not None:
            await end_pause(self.db, request.model)
        return completion

    async def _complete_in_quota(
        self, request: ModelRequest, call_id: int, progress: CallProgress
    ) -> Completion:
        if request.model == EXTRACTIVE_MODEL:
            return await self._complete_in_turn(request, call_id, progress)
        price = self.models.prices.of(request.model)
        read, written = request_tokens(request), _EXPECTED_OUTPUT
        cost = None if price is None else price.of(input_tokens=read, output_tokens=written)
        async with quota_use(self.db, call_id, QuotaUse(read + written, cost)) as use:
            completion = await self._complete_in_turn(request, call_id, progress)
            use.tokens = completion.input_tokens + completion.output_tokens
            if price is not None:
                use.cost = price.of(
                    input_tokens=completion.input_tokens,
                    output_tokens=completion.output_tokens,
                    cached_tokens=completion.cached_tokens,
                )
            return completion

    async def _complete_in_turn(
        self, request: ModelRequest, call_id: int, progress: CallProgress
    ) -> Completion:
        model = self.models.named(request.model)
        limits = self.models.limits_of(request.model)
        if limits is None:
            return await model.complete(request, progress)
        async with model_turn(self.db, request, call_id, limits) as turn:
            turn.completion = await model.complete(request, progress)
            return turn.completion


def _paused(model: str, pause: ModelPause) -> ModelPaused:
    most_s = min(pause.left.total_seconds() * _SPREAD, _LONGEST_SPREAD_S)
    after = pause.left + timedelta(seconds=random.uniform(0, most_s))  # noqa: S311 - nothing secret
    until = datetime.now(UTC) + pause.left
    return ModelPaused(
        f"model {model!r} waits until {until:%H:%M:%S} UTC: its endpoint has answered 429 (too "
        "many requests)",
        after=after,
        since=pause.since,
    )
