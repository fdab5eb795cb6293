"""Sum the results of each contestant, and print them with the ratios to the plain agent."""

from collections.abc import Iterator, Sequence

from holdfast.evals.peers.peer_comparison import OPEN_QUESTION
from holdfast.evals.peers.peer_records import PeerRun
from holdfast.models.frozen_model import Frozen

PLAIN_AGENT = "pydantic-ai"


class ContestantFigures(Frozen):
    """The figures of one contestant, summed over its questions."""

    contestant: str
    questions: int
    closed: int
    """Questions that have a right answer."""
    right: int
    failed: int
    calls: int
    input_tokens: int
    repeated_tokens: int
    cached_tokens: int
    output_tokens: int
    searches: int
    citations: int
    citations_that_exist: int
    quotes: int
    quotes_that_stand: int


def contestant_figures(runs: Sequence[PeerRun]) -> list[ContestantFigures]:
    """Return the figures by contestant, in the order of their first results."""
    names = dict.fromkeys(run.contestant for run in runs)
    return [_figures(name, [run for run in runs if run.contestant == name]) for name in names]


def _figures(name: str, runs: Sequence[PeerRun]) -> ContestantFigures:
    return ContestantFigures(
        contestant=name,
        questions=len(runs),
        closed=sum(run.verdict != OPEN_QUESTION for run in runs),
        right=sum(run.verdict == "correct" for run in runs),
        failed=sum(bool(run.delivered.failure) for run in runs),
        calls=sum(run.usage.calls for run in runs),
        input_tokens=sum(run.usage.input_tokens for run in runs),
        repeated_tokens=sum(run.usage.repeated_tokens for run in runs),
        cached_tokens=sum(run.usage.cached_tokens for run in runs),
        output_tokens=sum(run.usage.output_tokens for run in runs),
        searches=sum(run.delivered.searches for run in runs),
        citations=sum(run.delivered.citations for run in runs),
        citations_that_exist=sum(run.delivered.citations_that_exist for run in runs),
        quotes=sum(run.delivered.quotes for run in runs),
        quotes_that_stand=sum(run.delivered.quotes_that_stand for run in runs),
    )


def table_lines(runs: Sequence[PeerRun]) -> Iterator[str]:
    """Yield the table in Markdown, and the ratios to the plain agent over the same questions."""
    names = ("contestant", "n", "right", "calls", "tokens in", "repeated", "cached", "out")
    more = ("searches", "citations that exist", "quotes that stand")
    yield f"| {' | '.join((*names, *more))} |"
    yield f"| --- |{' --: |' * (len(names) + len(more) - 1)}"
    yield from (_row(each) for each in contestant_figures(runs))
    yield ""
    for name in dict.fromkeys(run.contestant for run in runs):
        line = ratio_line(runs, name)
        if line:
            yield line


def _row(each: ContestantFigures) -> str:
    cells = (
        f"`{each.contestant}`",
        each.questions,
        f"{each.right} of {each.closed}",
        each.calls,
        f"{each.input_tokens:,}",
        f"{each.repeated_tokens:,}",
        f"{each.cached_tokens:,}",
        f"{each.output_tokens:,}",
        each.searches,
        _share(each.citations_that_exist, each.citations),
        _share(each.quotes_that_stand, each.quotes),
    )
    return f"| {' | '.join(map(str, cells))} |"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "none"


def ratio_line(runs: Sequence[PeerRun], name: str) -> str:
    """Return the sums of one contestant compared with the plain agent's on the same questions."""
    ratios = cost_ratios(runs, name)
    if name == PLAIN_AGENT or ratios is None:
        return ""
    questions, tokens, calls = ratios
    return (
        f"{name} / {PLAIN_AGENT} over {questions} questions: {tokens:.2f} times the input tokens, "
        f"{calls:.2f} times the calls"
    )


def cost_ratios(runs: Sequence[PeerRun], name: str) -> tuple[int, float, float] | None:
    """Return the questions that both answered, and the ratios of input tokens and calls."""
    mine = {run.question: run.usage for run in runs if run.contestant == name}
    plain = {run.question: run.usage for run in runs if run.contestant == PLAIN_AGENT}
    both = [each for each in mine if each in plain]
    tokens = sum(plain[each].input_tokens for each in both)
    calls = sum(plain[each].calls for each in both)
    if not tokens or not calls:
        return None
    return (
        len(both),
        sum(mine[each].input_tokens for each in both) / tokens,
        sum(mine[each].calls for each in both) / calls,
    )
