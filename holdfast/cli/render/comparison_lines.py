"""Format the comparison of two jobs as lines of text."""

from collections.abc import Iterator

from holdfast.cli.render.amount_text import format_seconds
from holdfast.cli.render.terminal_output import count_with_noun, shortened_line
from holdfast.models.budget.money_text import format_money
from holdfast.planning.reports.claim_matching import ClaimChange, ClaimPair
from holdfast.records.job_comparison import (
    JobAmounts,
    JobComparison,
    SourceChange,
    TaskChange,
    TaskPair,
)
from holdfast.records.model_matching import MatchingSpend

_MAX_TEXT = 300
_CLAIM_WORDS = {
    ClaimChange.SAME: "same",
    ClaimChange.REWORDED: "other words",
    ClaimChange.OTHER_SUPPORT: "other support",
    ClaimChange.OTHER_VALUE: "other value",
    ClaimChange.NEW: "new",
    ClaimChange.GONE: "gone",
}


def comparison_lines(found: JobComparison) -> Iterator[str]:
    """The amounts, the answers, and each claim, task and source that differs."""
    for name, job in (("first", found.first), ("second", found.second)):
        yield f"{name:<7} {_amounts(job, found.currency)}"
    if found.forked:
        yield f"        {found.forked}"
    same = "the same" if found.has_same_answer else "different"
    yield f"answer: {same}"
    if not found.has_same_answer:
        yield f"  - {shortened_line(found.first.answer or 'none', _MAX_TEXT)}"
        yield f"  + {shortened_line(found.second.answer or 'none', _MAX_TEXT)}"
    yield from _claims_lines(found)
    for task in found.tasks:
        yield from _task_lines(task)
    for source in found.sources:
        if source.change is not SourceChange.BOTH:
            words = source.change.value.replace("_", " ")
            yield f"source: {words}: {shortened_line(source.address, _MAX_TEXT)}"


def _claims_lines(found: JobComparison) -> Iterator[str]:
    """How many claims changed in which way, each that changed, and what rules cannot tell."""
    if found.note:
        yield f"claims: {found.note}"
        return
    counts = found.claim_counts.items()
    shown = (f"{n} {_CLAIM_WORDS[ClaimChange(change)]}" for change, n in counts if n)
    yield f"claims: {', '.join(shown) or 'none'} (matched by {found.matched_by})"
    if found.matching is not None:
        yield f"  {_matching_words(found.matching, found.currency)}"
    for claim in found.claims:
        yield from _claim_lines(claim)
    if found.unsettled:
        yield (
            f"  without a match, but similar to a claim of the other report: {found.unsettled}; "
            "rules cannot tell whether both say the same"
        )


def _matching_words(spend: MatchingSpend, currency: str) -> str:
    """What a model took to match claims, and which job has its call."""
    if not spend.calls:
        return f"nothing was left over for {spend.model}"
    calls = count_with_noun(spend.calls, "call")
    tokens = f"{spend.input_tokens:,} tokens in, {spend.output_tokens:,} out"
    cost = format_money(spend.cost, currency)
    return (
        f"{spend.model} took {calls}, {tokens}, {cost}; recorded with job {spend.job_id}, "
        "and not paid again"
    )


def _amounts(job: JobAmounts, currency: str) -> str:
    return (
        f"{job.job_id} {job.status}: {count_with_noun(job.model_calls, 'model call')}, "
        f"{count_with_noun(job.tool_calls, 'tool call')}, {job.repeated_calls} from record, "
        f"{job.tokens:,} tokens, "
        f"{format_money(job.cost, currency)}, {format_seconds(job.seconds)}"
    )


def _claim_lines(claim: ClaimPair) -> Iterator[str]:
    if claim.change is ClaimChange.SAME:
        return
    by = "" if claim.matched_by in {"", "rules"} else f" (matched by {claim.matched_by})"
    yield f"  {_CLAIM_WORDS[claim.change]}{by}:"
    if claim.first:
        yield f"  - {shortened_line(claim.first, _MAX_TEXT)}"
    if claim.second:
        yield f"  + {shortened_line(claim.second, _MAX_TEXT)}"
    if claim.unsettled:
        yield f"  ? {shortened_line(claim.unsettled, _MAX_TEXT)}"


def _task_lines(task: TaskPair) -> Iterator[str]:
    if task.change is TaskChange.SAME:
        return
    names = " and ".join(dict.fromkeys(name for name in (task.first, task.second) if name))
    words = task.change.value.replace("_", " ")
    yield f"task:   {names}: {words}: {shortened_line(task.description, 100)}"
    for name in dict.fromkeys((*task.first_result, *task.second_result)):
        one, other = task.first_result.get(name), task.second_result.get(name)
        if one != other:
            yield f"  - {name} = {shortened_line(str(one), _MAX_TEXT)}"
            yield f"  + {name} = {shortened_line(str(other), _MAX_TEXT)}"
