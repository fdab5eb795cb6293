"""`holdfast stats` as rows of a table."""

from collections.abc import Iterator

from holdfast.cli.money import money
from models.spending import Spend
from models.views import Stats


def stats_rows(found: Stats) -> list[tuple[str, str]]:
    """What was counted, and how much of it."""
    return [*_totals(found), *_spent(found), *((f"tool {s.name}", f"{s.calls} calls")
            for s in found.by_tool)]  # fmt: skip


def _totals(found: Stats) -> Iterator[tuple[str, str]]:
    counts = ", ".join(f"{count} {name}" for name, count in found.by_status.items()) or "none"
    recovered = ", ".join(f"{n}: {count}" for n, count in found.success_after_replans.items())
    failures = ", ".join(f"{name}: {n}" for name, n in found.failures_by_component.items() if n)
    deviating = ", ".join(f"{name}: {n}" for name, n in found.deviation_output_tokens.items() if n)
    yield "jobs", counts
    yield "model calls", f"{found.calls.model} ({found.tokens_per_call:g} tokens per call)"
    yield "tool calls", f"{found.calls.tool} ({found.repeated_calls} answered from earlier ones)"
    yield "tokens", f"{found.tokens.input} in, {found.tokens.output} out"
    yield "cost", money(found.cost, found.currency)
    yield "per job", f"{found.calls_per_job:g} calls, {found.tokens_per_job:g} tokens"
    yield "answered after n replans", recovered
    yield "failures by component", failures or "none"
    yield "output tokens on deviations", deviating or "none"


def _spent(found: Stats) -> Iterator[tuple[str, str]]:
    groups = {"phase": found.by_phase, "role": found.by_role, "model": found.by_model,
              "task": found.by_task}  # fmt: skip
    for what, spends in groups.items():
        yield from ((f"{what} {each.name}", _spend(each, found.currency)) for each in spends)


def _spend(of: Spend, currency: str) -> str:
    tokens = f"{of.calls} calls, {of.input_tokens} in, {of.output_tokens} out"
    return f"{tokens}, cost {money(of.cost, currency)}"
