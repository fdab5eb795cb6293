"""Compare a plan's estimate with what the job took after planning."""

from decimal import Decimal

from holdfast.models.budget.cost_estimates import EstimateComparison, PlanEstimate, UsageAmounts
from holdfast.models.budget.spend_breakdown import Phase, Spend, SpendBreakdown

_NO_SPEND = Spend(name=Phase.PLANNING.value, calls=0, cost=Decimal(0))


def compare_with_estimate(
    told: PlanEstimate, spent: SpendBreakdown, *, tool_calls: int, seconds: float | None
) -> EstimateComparison:
    """Compare what was spent with the estimate.

    `seconds` runs from the plan to the job's end, without the time in which it had ended.
    """
    tokens = told.tokens
    planning = next((e for e in spent.by_phase if e.name == Phase.PLANNING.value), _NO_SPEND)
    return EstimateComparison(
        estimated=UsageAmounts(
            tool_calls=told.tool_calls,
            model_calls=told.model_calls,
            input_tokens=tokens and tokens.input,
            output_tokens=tokens and tokens.output,
            cost=told.cost,
            seconds=told.seconds,
        ),
        actual=UsageAmounts(
            tool_calls=tool_calls,
            model_calls=spent.total.calls - planning.calls,
            input_tokens=spent.total.input_tokens - planning.input_tokens,
            output_tokens=spent.total.output_tokens - planning.output_tokens,
            cost=_subtract(spent.total.cost, planning.cost),
            seconds=seconds,
        ),
    )


def _subtract(total: Decimal | None, part: Decimal | None) -> Decimal | None:
    return None if total is None or part is None else total - part
