"""Write the question that a job asks at its cap, and read the answer."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from holdfast.models.budget.spend_breakdown import Spend, SpendBreakdown
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.jobs.job_state import EndJob
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.planning.scheduler.job_endings import failed_ending
from holdfast.planning.strategies.strategy_presets import with_settings

RAISE, REPORT, STOP = "raise", "report", "stop"
BUDGET_CHOICES = (RAISE, REPORT, STOP)
_MAX_TASKS = 20
_RAISE = re.compile(
    r"raise\s+(?:(max_tokens|max_cost)\s*=\s*)?([0-9][0-9_,]*(?:\.[0-9]+)?)", re.IGNORECASE
)


class BudgetDecision(Frozen):
    """The effect of an answer: other settings, or an ending of the job."""

    strategy: Strategy | None = None
    ending: EndJob | None = None
    reports_first: bool = False
    """True if the results are reported before the job ends."""


def budget_question(strategy: Strategy, spent: SpendBreakdown) -> str:
    """Return the text of the question: what was spent on what.

    Each face adds how its users answer: a person types, clicks, or fills in a form.
    """
    caps = "; ".join(_caps(strategy, spent.total))
    shares = [f"  {_spend(each)}" for each in _largest(spent.by_task)]
    first = f"The job has no room for its next model call: {caps}."
    if shares:
        first += " By task:"
    reserve = strategy.report_reserve
    kept = [f"{reserve:.0%} is kept for a report of what was found."] if reserve else []
    return "\n".join([first, *shares, *kept])


def budget_decision(words: str, strategy: Strategy) -> BudgetDecision:
    """Parse an answer: `raise 2.50`, `raise max_tokens=200000`, `report` or `stop`.

    Raises:
        BadInput: the answer is none of these, or raises nothing; the message shows the forms.
    """
    said = words.strip()
    match said.lower():
        case "report":
            return BudgetDecision(
                ending=_ending("what was found was to be reported"), reports_first=True
            )
        case "stop":
            return BudgetDecision(ending=_ending("it was to stop"))
    return BudgetDecision(strategy=_raise_cap(said, strategy))


def _raise_cap(said: str, strategy: Strategy) -> Strategy:
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
    return failed_ending(StopReason.BUDGET, f"the budget was used up, and {why}")


def _caps(strategy: Strategy, total: Spend) -> list[str]:
    amounts: Mapping[str, tuple[str, object]] = {
        "tokens": (f"{total.tokens:,}", strategy.max_tokens),
        "in money": (_cost(total), strategy.max_cost),
    }
    return [f"{used} of {cap:,} {what}" for what, (used, cap) in amounts.items() if cap is not None]


def _largest(spends: Sequence[Spend]) -> list[Spend]:
    return sorted(spends, key=lambda each: -each.tokens)[:_MAX_TASKS]


def _spend(of: Spend) -> str:
    return f"{of.name}: {of.tokens:,} tokens, cost {_cost(of)}"


def _cost(of: Spend) -> str:
    return "unknown" if of.cost is None else f"{of.cost.normalize():f}"
