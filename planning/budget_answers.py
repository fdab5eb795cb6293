"""What an answer to a reached cap means: a higher cap, a report of what there is, or the end."""

from dataclasses import dataclass

from models.errors import BadInput
from models.jobs import JobStatus, StopReason
from models.state import EndJob
from models.strategy import Strategy
from planning.answers import Choice


@dataclass(frozen=True)
class BudgetMeaning:
    """The settings to go on with, or the end."""

    strategy: Strategy | None = None
    ends: EndJob | None = None
    reports: bool = False


def meaning_of(choice: str, words: str, strategy: Strategy) -> BudgetMeaning:
    """What the answer means under these settings; `raise` alone doubles the caps there are.

    Raises:
        BadInput: the new cap is no number, or not above the present one.
    """
    if choice == Choice.RAISE:
        return BudgetMeaning(strategy=_raised(words, strategy))
    reports = choice == Choice.REPORT
    message = "the budget is used up" + ("" if reports else "; the job was stopped there")
    ends = EndJob(status=JobStatus.FAILED, reason=StopReason.BUDGET, message=message)
    return BudgetMeaning(ends=ends, reports=reports)


def _raised(words: str, strategy: Strategy) -> Strategy:
    if not words:
        caps = {"max_tokens": strategy.max_tokens, "max_cost": strategy.max_cost}
        return strategy.model_copy(update={name: 2 * cap for name, cap in caps.items() if cap})
    name = "max_cost" if strategy.max_tokens is None else "max_tokens"
    now = strategy.max_cost if strategy.max_tokens is None else strategy.max_tokens
    try:
        wanted = float(words.replace(",", "").replace("_", ""))
    except ValueError:
        raise BadInput(f"{words!r} is no number; say `raise` and the new {name}") from None
    if now is not None and wanted <= now:
        raise BadInput(f"{name} is {now:,} already; raise it to more than that")
    return strategy.model_copy(update={name: int(wanted) if name == "max_tokens" else wanted})
