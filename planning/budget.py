"""The question that a job asks at its cap, and what an answer to it means."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from models.base import Frozen
from models.errors import BadInput
from models.jobs import StopReason
from models.spending import Breakdown, Spend
from models.state import EndJob
from models.strategy import Strategy
from planning.endings import failure
from planning.presets import with_settings

RAISE, REPORT, STOP = "raise", "report", "stop"
CHOICES = (RAISE, REPORT, STOP)
_MOST_TASKS = 20
_RAISE = re.compile(
    r"raise\s+(?:(max_tokens|max_cost)\s*=\s*)?([0-9][0-9_,]*(?:\.[0-9]+)?)", re.IGNORECASE
)


class BudgetDecision(Frozen):
    """What an answer means: other settings, or how the job ends."""

    strategy: Strategy | None = None
    ends: EndJob | None = None
    reports: bool = False
    """Whether what was found is reported before that."""


def budget_question(job_id: str, strategy: Strategy, spent: Breakdown) -> str:
    """What was spent on what, and what can be done."""
    caps = "; ".join(_caps(strategy, spent.total))
    ways = (
        f"`{RAISE} N` sets the cap to N and goes on (`{RAISE} max_cost=N` or `max_tokens=N` where "
        f"both are set); `{REPORT}` writes up what was found, from the "
        f"{strategy.report_reserve:.0%} kept for that; `{STOP}` ends job {job_id} without a report."
    )
    shares = [f"  {_spend(each)}" for each in _largest(spent.by_task)]
    first = f"The job has no room for its next model call: {caps}. By task:"
    return "\n".join([first, *shares, ways])


def budget_decision(words: str, strategy: Strategy) -> BudgetDecision:
    """What these words decide: `raise 2.50`, `raise max_tokens=200000`, `report` or `stop`.

    Raises:
        BadInput: they are none of these, or raise nothing; the message shows what to write.
    """
    said = words.strip()
    match said.lower():
        case "report":
            return BudgetDecision(ends=_ending("what was found was to be reported"), reports=True)
        case "stop":
            return BudgetDecision(ends=_ending("it was to stop"))
    return BudgetDecision(strategy=_raised(said, strategy))


def _raised(said: str, strategy: Strategy) -> Strategy:
    found = _RAISE.fullmatch(said)
    if found is None:
        raise BadInput(
            f"{said[:80]!r} is no answer to what is to become of the budget; answer `raise 2.50` "
            "with the new cap, `report` or `stop`"
        )
    given = re.sub("[_,]", "", found[2])
    name = found[1].lower() if found[1] else _only_cap(strategy)
    cap = strategy.max_tokens if name == "max_tokens" else strategy.max_cost
    if cap is not None and Decimal(given) <= Decimal(str(cap)):
        raise BadInput(f"{name} is {cap} already, and {given} is no more; name a higher cap")
    return with_settings(strategy, {name: given})


def _only_cap(strategy: Strategy) -> str:
    caps = {"max_tokens": strategy.max_tokens, "max_cost": strategy.max_cost}
    named = [name for name, cap in caps.items() if cap is not None]
    if len(named) != 1:
        raise BadInput("say which cap: `raise max_tokens=200000` or `raise max_cost=2.50`")
    return named[0]


def _ending(why: str) -> EndJob:
    return failure(StopReason.BUDGET, f"the budget was used up, and {why}")


def _caps(strategy: Strategy, total: Spend) -> list[str]:
    amounts: Mapping[str, tuple[str, object]] = {
        "tokens (max_tokens)": (f"{total.tokens:,}", strategy.max_tokens),
        "in money (max_cost)": (_cost(total), strategy.max_cost),
    }
    return [f"{used} of {cap:,} {what}" for what, (used, cap) in amounts.items() if cap is not None]


def _largest(spends: Sequence[Spend]) -> list[Spend]:
    return sorted(spends, key=lambda each: -each.tokens)[:_MOST_TASKS]


def _spend(of: Spend) -> str:
    return f"{of.name}: {of.tokens:,} tokens, cost {_cost(of)}"


def _cost(of: Spend) -> str:
    return "unknown" if of.cost is None else f"{of.cost.normalize():f}"
