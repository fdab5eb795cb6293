"""Count what a weak reader's jobs came to: lost loops, takeovers by the engine, inventions."""

from collections.abc import Mapping, Sequence

from holdfast.evals.peers.exchange_records import Exchange
from holdfast.evals.peers.peer_comparison import OPEN_QUESTION
from holdfast.evals.peers.peer_records import PeerRun
from holdfast.evals.weak.reader_notes import ReaderNotes, function_calls
from holdfast.models.frozen_model import Frozen
from holdfast.models.loop.loop_functions import ANSWER
from holdfast.roles.planning.planner import CONTINUED_PLANNER

_COLUMNS = (
    "preset",
    "jobs",
    "right",
    "wrong",
    "no answer",
    "engine took over",
    "right after",
    "inventions",
    "delivered",
    "calls",
    "tokens in",
)


class WeakRun(Frozen):
    """What one job of the weak reader came to."""

    preset: str
    question: str
    seed: int
    verdict: str
    is_answered: bool
    was_taken_over: bool
    """True if the planner was asked after the loop."""
    calls: int
    input_tokens: int
    planted: int
    """Sentences of its answers that the strong reader did not write."""
    delivered: tuple[str, ...] = ()
    """Planted sentences that stand in the report as findings."""


class WeakFigures(Frozen):
    """The sums of one preset."""

    preset: str
    jobs: int
    right: int
    wrong: int
    unanswered: int
    taken_over: int
    right_after: int
    """Right, or an open question answered, after the engine had taken over."""
    planted: int
    delivered: int
    calls: int
    input_tokens: int


def weak_run(run: PeerRun, seed: int, exchanges: Sequence[Exchange], notes: ReaderNotes) -> WeakRun:
    """Return what the job came to, from its result and its exchanges with the model."""
    true = {" ".join(each.text.split()) for each in notes.sentences}
    planted = {text for each in exchanges for text in _answered(each)} - true
    lines = {" ".join(line.split()) for line in run.delivered.text.splitlines()}
    planner = CONTINUED_PLANNER.instructions.strip()
    return WeakRun(
        preset=run.contestant,
        question=run.question,
        seed=seed,
        verdict=run.verdict,
        is_answered=bool(run.delivered.answer),
        was_taken_over=any(
            each.request["messages"][0]["content"].startswith(planner) for each in exchanges
        ),
        calls=run.usage.calls,
        input_tokens=run.usage.input_tokens,
        planted=len(planted),
        delivered=tuple(sorted(planted & lines)),
    )


def _answered(exchange: Exchange) -> list[str]:
    message: Mapping[str, object] = exchange.reply["choices"][0]["message"]
    said = [arguments for name, arguments in function_calls(message) if name == ANSWER]
    return [
        " ".join(each["text"].split()) for answer in said for each in answer.get("sentences", ())
    ]


def weak_figures(runs: Sequence[WeakRun]) -> list[WeakFigures]:
    """Return the sums by preset."""
    names = dict.fromkeys(run.preset for run in runs)
    return [_figures(name, [run for run in runs if run.preset == name]) for name in names]


def _is_right(run: WeakRun) -> bool:
    return run.verdict == "correct" or (run.verdict == OPEN_QUESTION and run.is_answered)


def _figures(name: str, runs: Sequence[WeakRun]) -> WeakFigures:
    right = [run for run in runs if _is_right(run)]
    wrong = [run for run in runs if run.is_answered and not _is_right(run)]
    return WeakFigures(
        preset=name,
        jobs=len(runs),
        right=len(right),
        wrong=len(wrong),
        unanswered=len(runs) - len(right) - len(wrong),
        taken_over=sum(run.was_taken_over for run in runs),
        right_after=sum(run.was_taken_over for run in right),
        planted=sum(run.planted for run in runs),
        delivered=sum(len(run.delivered) for run in runs),
        calls=sum(run.calls for run in runs),
        input_tokens=sum(run.input_tokens for run in runs),
    )


def weak_lines(runs: Sequence[WeakRun]) -> list[str]:
    """Return the table in Markdown."""
    lines = [
        f"| {' | '.join(_COLUMNS)} |",
        f"| --- |{' --: |' * (len(_COLUMNS) - 1)}",
    ]
    for each in weak_figures(runs):
        cells = (
            f"`{each.preset}`",
            each.jobs,
            each.right,
            each.wrong,
            each.unanswered,
            each.taken_over,
            each.right_after,
            each.planted,
            each.delivered,
            each.calls,
            f"{each.input_tokens:,}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines
