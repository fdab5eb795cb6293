"""Format the statistics of `holdfast stats` as table rows."""

from collections.abc import Iterator

from holdfast.cli.render.terminal_output import count_with_noun
from holdfast.models.budget.money_text import format_money
from holdfast.models.budget.spend_breakdown import Spend
from holdfast.models.views.job_views import Stats


def statistics_rows(stats: Stats) -> list[tuple[str, str]]:
    """The name of each statistic and its value."""
    return [
        *_total_rows(stats),
        *_spending_rows(stats),
        *((f"tool {tool.name}", count_with_noun(tool.calls, "call")) for tool in stats.by_tool),
    ]


def _total_rows(stats: Stats) -> Iterator[tuple[str, str]]:
    counts = ", ".join(f"{count} {name}" for name, count in stats.by_status.items()) or "none"
    answered = ", ".join(f"{n}: {count}" for n, count in stats.success_after_replans.items())
    failures = ", ".join(f"{name}: {n}" for name, n in stats.failures_by_component.items() if n)
    deviations = ", ".join(f"{name}: {n}" for name, n in stats.deviation_output_tokens.items() if n)
    yield "jobs", counts
    yield "model calls", f"{stats.calls.model} ({stats.tokens_per_call:g} tokens per call)"
    yield "tool calls", f"{stats.calls.tool} ({stats.repeated_calls} answered from earlier calls)"
    yield "tokens", f"{stats.tokens.input} in, {stats.tokens.output} out"
    yield "cost", format_money(stats.cost, stats.currency)
    yield "per job", f"{stats.calls_per_job:g} calls, {stats.tokens_per_job:g} tokens"
    yield "answered after n replans", answered
    yield "failures by component", failures or "none"
    yield "output tokens on deviations", deviations or "none"


def _spending_rows(stats: Stats) -> Iterator[tuple[str, str]]:
    groups = {
        "phase": stats.by_phase,
        "role": stats.by_role,
        "model": stats.by_model,
        "task": stats.by_task,
    }
    for group, spends in groups.items():
        yield from ((f"{group} {spend.name}", _spend(spend, stats.currency)) for spend in spends)


def _spend(spend: Spend, currency: str) -> str:
    calls = count_with_noun(spend.calls, "call")
    tokens = f"{spend.input_tokens} in, {spend.output_tokens} out"
    return f"{calls}, {tokens}, cost {format_money(spend.cost, currency)}"
