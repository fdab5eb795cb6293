"""Ask a model to match claims of two reports, if one is named, and say what it took."""

import asyncio
from collections.abc import Awaitable, Callable

from holdfast.client import Holdfast
from holdfast.jobs.model_checks import check_models, checked_model_name
from holdfast.models.budget.token_prices import Money
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput
from holdfast.models.evidence.evidence import Report
from holdfast.models.frozen_model import Frozen
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.models.wire.call_places import comparison_label
from holdfast.planning.budget.spend_totals import sum_bills
from holdfast.planning.reports.claim_matching import ModelMatches
from holdfast.storage.ledger.spending_queries import bills_of


class MatchingSpend(Frozen):
    """What a model took to match the claims of two reports; asking again is free."""

    model: str
    job_id: str
    """The job whose ledger has the call."""
    calls: int
    input_tokens: int
    output_tokens: int
    cost: Money | None


def check_matcher(holdfast: Holdfast, model: str) -> None:
    """Refuse a model that cannot match claims.

    Raises:
        BadInput: says why.
    """
    if checked_model_name(model) == EXTRACTIVE_MODEL:
        raise BadInput(
            f"{EXTRACTIVE_MODEL} matches claims by the same rules as no model; name a model that "
            "`holdfast models list` shows with an endpoint, or leave the model out",
            field="model",
        )
    with error_field("model"):
        check_models([model], holdfast.settings)


def _load_matcher() -> Callable[..., Awaitable[ModelMatches | None]]:
    from holdfast.records.claim_matches import matches_of_model

    return matches_of_model


async def _matching_spend(holdfast: Holdfast, jobs: tuple[str, str], model: str) -> MatchingSpend:
    """Return what the model has taken to match the claims of these two reports."""
    async with holdfast.db.reading() as connection:
        bills = await bills_of(connection, jobs[1])
    label = comparison_label(jobs[0])
    spent = sum_bills(model, [e for e in bills if (e.task, e.model) == (label, model)])
    return MatchingSpend(
        model=model,
        job_id=jobs[1],
        calls=spent.calls,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cost=spent.cost,
    )


async def match_by_model(
    holdfast: Holdfast, jobs: tuple[str, str], reports: tuple[Report, Report], model: str
) -> tuple[ModelMatches | None, MatchingSpend]:
    """Return what the model matched, None if rules left nothing over, with what it took.

    Raises:
        HoldfastError: as `matches_of_model`.
    """
    # Elsewhere than in the event loop: clients of endpoints take seconds to load.
    matches_of_model = await asyncio.to_thread(_load_matcher)
    found = await matches_of_model(holdfast, jobs, reports, model)
    return found, await _matching_spend(holdfast, jobs, model)
