"""Describe a chart in words for readers that do not see the image, such as a model."""

from holdfast.tools.charts.chart_drawing import Chart
from holdfast.tools.charts.chart_points import ChartPoint

_MAX_SERIES = 6


def describe_chart(chart: Chart) -> str:
    """Return the title, the axes, and the first, last, least and greatest value of each series."""
    points, names = chart.points.points, chart.points.series
    kind = f"{chart.mark.value} chart of {chart.y_title} over {chart.x_title}"
    counted = f"{len(points)} points" + (f" in {len(names)} series" if len(names) > 1 else "")
    lines = [f"{chart.title}: {kind}, {counted}."]
    lines += [
        _series(name, [point for point in points if point.series == name])
        for name in names[:_MAX_SERIES]
    ]
    if chart.points.left_out:
        lines.append(f"{chart.points.left_out} values were missing and are not drawn.")
    return "\n".join([*lines, *([chart.caption] if chart.caption else [])])


def _series(name: str, points: list[ChartPoint]) -> str:
    least, most = min(points, key=lambda point: point.y), max(points, key=lambda point: point.y)
    ends = f"from {_at(points[0])} to {_at(points[-1])}"
    return f"{f'{name}: ' if name else ''}{ends}; least {_at(least)}, greatest {_at(most)}."


def _at(point: ChartPoint) -> str:
    x = f"{point.x:g}" if isinstance(point.x, float) else point.x
    return f"{point.y:g} at {x}"
