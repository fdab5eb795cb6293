"""Format the estimate of a plan as lines of text."""

from holdfast.cli.render.amount_text import format_seconds
from holdfast.cli.render.terminal_output import count_with_noun
from holdfast.models.budget.cost_estimates import PlanEstimate, RoleEstimate
from holdfast.models.budget.money_text import format_money


def estimate_lines(estimate: PlanEstimate, currency: str) -> list[str]:
    """The calls, tokens, cost and time that the plan would take, and what planning cost."""
    tokens = estimate.tokens
    token_text = f"{tokens.input:,} in, {tokens.output:,} out" if tokens else "unknown"
    spent = f"{estimate.spent.input:,} tokens in, {estimate.spent.output:,} out"
    calls = f"{count_with_noun(estimate.tool_calls, 'tool call')}, "
    calls += count_with_noun(estimate.model_calls, "model call")
    return [
        f"would take: {calls}, tokens: {token_text}",
        *(f"  {_role_line(role, currency)}" for role in estimate.roles),
        (
            f"cost:       {format_money(estimate.cost, currency)}, "
            f"time: {format_seconds(estimate.seconds)}"
        ),
        f"spent:      {spent}, cost {format_money(estimate.spent_cost, currency)}",
    ]


def _role_line(estimate: RoleEstimate, currency: str) -> str:
    calls = f"{estimate.role:<12} {count_with_noun(estimate.calls, 'call')}"
    if estimate.input_tokens is None or estimate.output_tokens is None:
        return f"{calls}, tokens unknown: no earlier call with this model"
    return (
        f"{calls}, {estimate.input_tokens:,} tokens in, {estimate.output_tokens:,} out, "
        f"cost {format_money(estimate.cost, currency)} "
        f"(as {count_with_noun(estimate.seen, 'earlier call')})"
    )
