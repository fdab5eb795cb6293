"""A chart in words: what those read of it who see no picture, a model before all."""

from tools.charts.drawing import Chart
from tools.charts.points import Point

_MOST_SERIES = 6


def in_words(chart: Chart) -> str:
    """The title, what is drawn over what, and each series' first, last, least and greatest."""
    points, names = chart.points.points, chart.points.series
    kind = f"{chart.mark.value} chart of {chart.y_title} over {chart.x_title}"
    counted = f"{len(points)} points" + (f" in {len(names)} series" if len(names) > 1 else "")
    lines = [f"{chart.title}: {kind}, {counted}."]
    lines += [
        _series(name, [each for each in points if each.series == name])
        for name in names[:_MOST_SERIES]
    ]
    if chart.points.left_out:
        lines.append(f"{chart.points.left_out} values were missing and are not drawn.")
    return "\n".join([*lines, *([chart.caption] if chart.caption else [])])


def _series(name: str, points: list[Point]) -> str:
    least, most = min(points, key=lambda each: each.y), max(points, key=lambda each: each.y)
    ends = f"from {_at(points[0])} to {_at(points[-1])}"
    return f"{f'{name}: ' if name else ''}{ends}; least {_at(least)}, greatest {_at(most)}."


def _at(point: Point) -> str:
    x = f"{point.x:g}" if isinstance(point.x, float) else point.x
    return f"{point.y:g} at {x}"
