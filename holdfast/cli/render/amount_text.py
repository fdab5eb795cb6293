"""Format numbers, durations and estimates; print an unknown amount as `unknown`."""

from holdfast.cli.render.terminal_output import count_with_noun
from holdfast.models.budget.cost_estimates import EstimateComparison, UsageAmounts
from holdfast.models.budget.money_text import format_money

_UNKNOWN = "unknown"


def format_number(value: int | None) -> str:
    return _UNKNOWN if value is None else f"{value:,}"


def format_seconds(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:,.1f} s"


def comparison_lines(comparison: EstimateComparison, currency: str) -> list[str]:
    """The estimate of the job with its actual amounts, without planning."""
    return [
        f"estimate: {format_amounts(comparison.estimated, currency)}",
        f"took:     {format_amounts(comparison.actual, currency)}",
    ]


def format_amounts(usage: UsageAmounts, currency: str) -> str:
    """The calls, tokens, cost and time on one line."""
    input_tokens, output_tokens = (
        format_number(count) for count in (usage.input_tokens, usage.output_tokens)
    )
    return ", ".join(
        (
            count_with_noun(usage.tool_calls, "tool call"),
            count_with_noun(usage.model_calls, "model call"),
            f"tokens {input_tokens} in, {output_tokens} out",
            f"cost {format_money(usage.cost, currency)}",
            format_seconds(usage.seconds),
        )
    )
