"""Write a chart as a Vega-Lite specification and draw it as SVG and PNG, without a network."""

import textwrap
import threading
from enum import StrEnum
from typing import Any, NamedTuple

import vl_convert

from holdfast.models.frozen_model import Frozen
from holdfast.tools.charts.chart_points import (
    AxisScale,
    ChartPoint,
    ChartPoints,
    epoch_milliseconds,
)

_VERSION = "6.4"
_WIDTH, _HEIGHT = 560, 320
_LINE_CHARS = 72
_RESOLUTION = 2.0
"""Pixels of the PNG per pixel of the SVG."""
_FONT = "DejaVu Sans, Liberation Sans, Arial, sans-serif"
_MAX_TICKS = 12
_YEARS = range(1000, 3000)
# The engine keeps state between drawings, so that two at once could interfere.
_ONE_AT_A_TIME = threading.Lock()


class Mark(StrEnum):
    """The kinds of chart."""

    LINE = "line"
    BAR = "bar"
    SCATTER = "scatter"


class Chart(Frozen):
    """The content of a drawing."""

    mark: Mark
    points: ChartPoints
    title: str
    caption: str = ""
    x_title: str
    y_title: str
    y_log: bool = False


class ChartImages(NamedTuple):
    """The same chart as SVG and as PNG."""

    svg: bytes
    png: bytes


def draw_chart(chart: Chart) -> ChartImages:
    """Draw the chart; the same chart gives the same bytes."""
    with _ONE_AT_A_TIME:
        svg = vl_convert.vegalite_to_svg(
            vega_lite_specification(chart), vl_version=_VERSION, allowed_base_urls=[]
        )
        return ChartImages(svg.encode(), vl_convert.svg_to_png(svg, scale=_RESOLUTION))


def vega_lite_specification(chart: Chart) -> dict[str, Any]:
    """Return the chart in Vega-Lite; foreign data is used only as values and texts.

    The field names are ours, because Vega reads `a.b` and `a[0]` in a field name as a path.
    """
    points = chart.points
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "background": "white",
        "padding": 12,
        "data": {"values": [_value(point, points.scale) for point in points.points]},
        "title": _title(chart),
        "mark": _mark(chart),
        "encoding": _encoding(chart),
        "config": {"font": _FONT, "axis": {"labelLimit": 220, "titleLimit": 500}},
    }


def _value(point: ChartPoint, scale: AxisScale) -> dict[str, Any]:
    x = epoch_milliseconds(str(point.x)) if scale is AxisScale.TIME else point.x
    return {"x": x, "y": point.y, "s": point.series}


def _title(chart: Chart) -> dict[str, Any]:
    return {
        "text": textwrap.wrap(chart.title, _LINE_CHARS),
        "subtitle": textwrap.wrap(chart.caption, _LINE_CHARS + 14),
        "anchor": "start",
        "fontSize": 15,
        "subtitleColor": "#555",
        "offset": 14,
    }


def _mark(chart: Chart) -> dict[str, Any]:
    match chart.mark:
        case Mark.LINE:
            return {"type": "line", "point": len(chart.points.points) <= 100}
        case Mark.BAR:
            return {"type": "bar"}
        case Mark.SCATTER:
            return {"type": "point", "filled": True, "size": 60, "opacity": 0.8}


def _encoding(chart: Chart) -> dict[str, Any]:
    channels = {"x": _x(chart), "y": _y(chart)}
    if len(chart.points.series) > 1:
        order = list(chart.points.series)
        channels["color"] = {
            "field": "s",
            "type": "nominal",
            "sort": order,
            "title": None,
            "scale": {"scheme": "tableau10" if len(order) <= 10 else "tableau20"},
        }
        if chart.mark is Mark.BAR:
            channels["xOffset"] = {"field": "s", "type": "nominal", "sort": order}
    return channels


def _x(chart: Chart) -> dict[str, Any]:
    axis: dict[str, Any] = {"field": "x", "title": chart.x_title}
    match chart.points.scale:
        case AxisScale.TIME:
            # Without a time zone the axis would use the zone of the machine.
            return axis | {"type": "temporal", "scale": {"type": "utc"}, "axis": _dates(chart)}
        case AxisScale.NUMBER:
            ticks = _years(chart) if _are_years(chart) else {}
            return axis | {"type": "quantitative", "scale": {"zero": False}, "axis": ticks}
        case AxisScale.NAMES:
            return axis | {"type": "nominal", "sort": None, "axis": {"labelAngle": _angle(chart)}}


def _dates(chart: Chart) -> dict[str, Any]:
    """Return ticks at all dates if they are few; else leave the ticks to the engine."""
    places = sorted({str(place.x) for place in chart.points.points})
    if len(places) > _MAX_TICKS:
        return {}
    longest = max(len(place) for place in places)
    form = "%Y-%m" if longest <= 7 else "%Y-%m-%d" if longest <= 10 else "%Y-%m-%d %H:%M"
    return {
        "format": form,
        "values": [epoch_milliseconds(place) for place in places],
        "labelOverlap": True,
    }


def _years(chart: Chart) -> dict[str, Any]:
    """Return ticks at all years if they are few: the engine's half years show each year twice."""
    places = sorted({point.x for point in chart.points.points if isinstance(point.x, float)})
    where = {"values": places, "labelOverlap": True} if len(places) <= _MAX_TICKS else {}
    return {"format": "d", "tickMinStep": 1} | where


def _are_years(chart: Chart) -> bool:
    found = [each.x for each in chart.points.points]
    return all(isinstance(x, float) and x.is_integer() and int(x) in _YEARS for x in found)


def _angle(chart: Chart) -> int:
    names = {str(each.x) for each in chart.points.points}
    return 0 if len(names) * max(len(name) for name in names) <= 70 else -40


def _y(chart: Chart) -> dict[str, Any]:
    axis: dict[str, Any] = {"field": "y", "type": "quantitative", "title": chart.y_title}
    if chart.y_log:
        return axis | {"scale": {"type": "log"}}
    return axis | {"scale": {"zero": chart.mark is Mark.BAR}}
