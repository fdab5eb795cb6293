"""A measured figure with its target, and its output as a table or as JSON."""

import statistics
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class MeasuredFigure:
    """One number; `aim` is the most it should be."""

    what: str
    value: float
    unit: str
    aim: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.aim is None:
            return ""
        return "met" if self.value <= self.aim else "missed"


async def time_interleaved(
    arms: Sequence[Callable[[], Awaitable[float]]], rounds: int
) -> list[list[float]]:
    """The times of each arm; the order turns round each time, so that noise falls on all alike."""
    found: list[list[float]] = [[] for _ in arms]
    for number in range(rounds):
        order = range(len(arms)) if number % 2 == 0 else reversed(range(len(arms)))
        for n in order:
            found[n].append(await arms[n]())
    return found


def median_ratio(figures: Iterable[float], base: Iterable[float]) -> float:
    """The median of the ratios round by round."""
    return statistics.median(a / b for a, b in zip(figures, base, strict=True))


def figures_as_table(figures: Sequence[MeasuredFigure]) -> str:
    rows = [("what", "figure", "aim", "", "")]
    rows += [_cells(each) for each in figures]
    widths = [max(len(row[n]) for row in rows) for n in range(5)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def figures_as_data(figures: Iterable[MeasuredFigure]) -> list[dict[str, Any]]:
    return [asdict(each) | {"verdict": each.verdict} for each in figures]


def _cells(each: MeasuredFigure) -> tuple[str, str, str, str, str]:
    aim = "" if each.aim is None else f"{each.aim:g} {each.unit}"
    return (each.what, f"{each.value:.2f} {each.unit}", aim, each.verdict, each.note)
