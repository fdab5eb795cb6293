"""Provide bounded versions of the `statistics` functions that the interpreter lacks.

They run in this process, so each must be quick for any input: plain float sums, without the exact
fractions of the standard library.
"""

import math
from collections.abc import Callable, Sequence

MAX_VALUES = 100_000


def _floats(values: object, least: int, name: str) -> list[float]:
    if not isinstance(values, list | tuple) or not all(
        isinstance(value, int | float) for value in values
    ):
        raise TypeError(f"{name} takes a list of numbers")
    if len(values) < least:
        raise ValueError(f"{name} needs at least {least} values, got {len(values)}")
    if len(values) > MAX_VALUES:
        raise ValueError(f"{name} takes at most {MAX_VALUES} values, got {len(values)}")
    return [float(value) for value in values]


def mean(values: object) -> float:
    numbers = _floats(values, 1, "mean")
    return math.fsum(numbers) / len(numbers)


def median(values: object) -> float:
    numbers = sorted(_floats(values, 1, "median"))
    half = len(numbers) // 2
    return numbers[half] if len(numbers) % 2 else (numbers[half - 1] + numbers[half]) / 2


def variance(values: object) -> float:
    return _squares(_floats(values, 2, "variance"), 1)


def pvariance(values: object) -> float:
    return _squares(_floats(values, 1, "pvariance"), 0)


def stdev(values: object) -> float:
    return math.sqrt(_squares(_floats(values, 2, "stdev"), 1))


def pstdev(values: object) -> float:
    return math.sqrt(_squares(_floats(values, 1, "pstdev"), 0))


def correlation(one: object, other: object) -> float:
    """Return Pearson's correlation coefficient, -1 to 1."""
    xs, ys = _floats(one, 2, "correlation"), _floats(other, 2, "correlation")
    if len(xs) != len(ys):
        raise ValueError(f"correlation takes two lists of one length, got {len(xs)} and {len(ys)}")
    spread = math.sqrt(_products(xs, xs) * _products(ys, ys))
    if not spread:
        raise ValueError("correlation: the values of one list are all the same")
    return _products(xs, ys) / spread


def quantiles(values: object, n: int = 4) -> list[float]:
    """Return the n - 1 cut points of n equal parts, as `statistics.quantiles` (exclusive)."""
    numbers = sorted(_floats(values, 2, "quantiles"))
    if not isinstance(n, int) or not 1 < n <= 1000:
        raise ValueError("quantiles takes n from 2 to 1000")
    return [_cut(numbers, part * (len(numbers) + 1) / n) for part in range(1, n)]


def _cut(numbers: Sequence[float], place: float) -> float:
    below = min(max(int(place), 1), len(numbers) - 1)
    share = place - below
    return numbers[below - 1] * (1 - share) + numbers[below] * share


def _squares(numbers: Sequence[float], less: int) -> float:
    return _products(numbers, numbers) / (len(numbers) - less)


def _products(xs: Sequence[float], ys: Sequence[float]) -> float:
    middle_x, middle_y = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    return math.fsum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True))


STATISTICS_FUNCTIONS: dict[str, Callable[..., object]] = {
    "mean": mean,
    "fmean": mean,
    "median": median,
    "variance": variance,
    "pvariance": pvariance,
    "stdev": stdev,
    "pstdev": pstdev,
    "correlation": correlation,
    "quantiles": quantiles,
}
"""The functions by their names in `statistics`."""
