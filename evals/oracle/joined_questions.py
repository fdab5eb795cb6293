"""Composite questions: independent questions asked as one, whose answer is all their answers."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from holdfast.evals.oracle.gold_programs import GoldProgram, GoldStep
from holdfast.models.errors import BadInput

SEPARATOR = " | "
"""Stands between the answers."""
CLOSING_INSTRUCTION = "Put the answers together in order, with ' | ' between them"


def compose_all(golds: Sequence[GoldProgram], k: int) -> list[GoldProgram]:
    """Questions of `k` parts each, no part in two of them; what is left over is left out.

    The parts of one are taken from all over the list, so that none is all of easy ones.

    Raises:
        BadInput: there are not so many questions that end in a value.
    """
    able = [gold for gold in golds if gold.ends]
    if not 1 < k <= len(able):
        raise BadInput(f"--k {k} does not fit: there are {len(able)} questions; give 2 or more")
    count = len(able) // k
    return [compose_question(able[at : count * k : count]) for at in range(count)]


def compose_question(parts: Sequence[GoldProgram]) -> GoldProgram:
    """The parts as one question; its program is theirs, one behind the other."""
    starts = list(accumulate((len(part.steps) for part in parts), initial=0))
    asked = "\n".join(f"{n}. {part.question}" for n, part in enumerate(parts, start=1))
    placed = list(zip(starts, parts, strict=False))
    return GoldProgram(
        id="+".join(part.id for part in parts),
        question=f"Answer each of these, in order, with ' | ' between the answers:\n{asked}",
        steps=tuple(_moved(step, start) for start, part in placed for step in part.steps),
        answer=SEPARATOR.join(part.answer for part in parts),
        kind=f"{len(parts)} parts",
        ends=tuple(start + end for start, part in placed for end in part.ends),
        wrong=frozenset(start + at for start, part in placed for at in part.wrong),
        parts=tuple(parts),
    )


def _moved(step: GoldStep, by: int) -> GoldStep:
    takes = {name: at + by for name, at in step.takes.items()}
    return replace(step, takes=takes, after=tuple(at + by for at in step.after))
