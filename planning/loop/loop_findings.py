"""Tell the planner what a loop found, tried and left open."""

from collections.abc import Iterable, Sequence

from holdfast.models.loop.loop_handover import LoopFindings, ProvenFact, SourceExcerpt
from holdfast.models.loop.loop_results import (
    LoopResult,
    NumberedPassage,
    ProvenQuote,
    ProvenValue,
)
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.text.reference_marks import disarm_references
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.loop.handover import open_links
from holdfast.planning.loop.passage_numbers import passage_title

_MOST_PASSAGES = 12
_LONGEST_FACT = 500
_EXCERPT = 100
"""Characters of a passage: with its title, enough to tell what its document is about."""


def loop_findings(
    loop: StoredTask,
    calls: Sequence[str],
    result: LoopResult | None,
    passages: Sequence[NumberedPassage],
) -> LoopFindings:
    """Return what a loop that did not answer leaves to the planner.

    `calls` are its searches and tool calls in words. A loop that failed has no result.
    """
    titles = {each.source_id: passage_title(each.passage)[:200] for each in passages}
    result = result or LoopResult()
    why = result.handover.why if result.handover else _failure(loop)
    shown = [each for each in result.values if each.quotes and not each.why_refused]
    quotes = [quote for each in result.sentences for quote in each.quotes]
    quotes += [quote for each in shown for quote in each.quotes]
    cited = {quote.source_id for quote in quotes}
    unread = [each for each in passages if each.source_id not in cited]
    return LoopFindings(
        task=loop.task.id if loop.task.status is TaskStatus.DONE else "",
        why=why,
        proven=(
            *(_fact(each.text, each.quotes, titles) for each in result.sentences),
            *(_fact(_value_in_words(each), each.quotes, titles) for each in shown),
        ),
        open=_safe(open_links(result)),
        tried=_safe(calls),
        read=tuple(_excerpt(each) for each in unread[:_MOST_PASSAGES]),
    )


def _failure(loop: StoredTask) -> str:
    return loop.failure.first_line if loop.failure else "the loop gave no result"


def _value_in_words(each: ProvenValue) -> str:
    return f"{each.name}: {value_as_text(each.value)}"[:_LONGEST_FACT]


def _fact(words: str, quotes: Sequence[ProvenQuote], titles: dict[int, str]) -> ProvenFact:
    sources = dict.fromkeys(titles.get(quote.source_id, "") for quote in quotes)
    text = str(disarm_references(words))
    return ProvenFact(text=text, sources=tuple(each for each in sources if each))


def _excerpt(each: NumberedPassage) -> SourceExcerpt:
    text = shorten_text(" ".join(each.passage.text.split()), _EXCERPT)
    return SourceExcerpt(title=passage_title(each.passage)[:200], text=str(disarm_references(text)))


def _safe(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines without marks of references: what a model wrote refers to nothing in the plan."""
    return tuple(str(disarm_references(each)) for each in lines)
