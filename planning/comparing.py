"""What a job took beside what it was to take: the work after planning, in both."""

from decimal import Decimal

from models.estimates import Amounts, Comparison, Estimate
from models.spending import Breakdown, Phase, Spend

_NOTHING = Spend(name=Phase.PLANNING.value, calls=0, cost=Decimal(0))


def compared(
    told: Estimate, spent: Breakdown, *, tool_calls: int, seconds: float | None
) -> Comparison:
    """`seconds` is the time since the plan was made, up to the job's end."""
    tokens = told.tokens
    planning = next((e for e in spent.by_phase if e.name == Phase.PLANNING.value), _NOTHING)
    return Comparison(
        estimated=Amounts(
            tool_calls=told.tool_calls,
            model_calls=told.model_calls,
            input_tokens=tokens and tokens.input,
            output_tokens=tokens and tokens.output,
            cost=told.cost,
            seconds=told.seconds,
        ),
        actual=Amounts(
            tool_calls=tool_calls,
            model_calls=spent.total.calls - planning.calls,
            input_tokens=spent.total.input_tokens - planning.input_tokens,
            output_tokens=spent.total.output_tokens - planning.output_tokens,
            cost=_without(spent.total.cost, planning.cost),
            seconds=seconds,
        ),
    )


def _without(total: Decimal | None, part: Decimal | None) -> Decimal | None:
    return None if total is None or part is None else total - part
