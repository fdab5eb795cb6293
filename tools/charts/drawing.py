"""A chart as a Vega-Lite specification of ours, drawn as SVG and PNG without any network."""

import textwrap
import threading
from enum import StrEnum
from typing import Any, NamedTuple

import vl_convert

from models.base import Frozen
from tools.charts.points import Point, Points, Scale, moment

_VERSION = "6.4"
_WIDTH, _HEIGHT = 560, 320
_LINE_CHARS = 72
_RESOLUTION = 2.0
"""Pixels of the PNG to one of the SVG."""
_FONT = "DejaVu Sans, Liberation Sans, Arial, sans-serif"
_MOST_TICKS = 12
_YEARS = range(1000, 3000)
# The engine keeps state between drawings, so that two at once could mix.
_ONE_AT_A_TIME = threading.Lock()


class Mark(StrEnum):
    """The kinds of chart."""

    LINE = "line"
    BAR = "bar"
    SCATTER = "scatter"


class Chart(Frozen):
    """All that a drawing shows."""

    mark: Mark
    points: Points
    title: str
    caption: str = ""
    x_title: str
    y_title: str
    y_log: bool = False


class Drawing(NamedTuple):
    """The same chart as text and as pixels."""

    svg: bytes
    png: bytes


def drawing(chart: Chart) -> Drawing:
    """The chart drawn; the same chart gives the same bytes."""
    with _ONE_AT_A_TIME:
        svg = vl_convert.vegalite_to_svg(
            specification(chart), vl_version=_VERSION, allowed_base_urls=[]
        )
        return Drawing(svg.encode(), vl_convert.svg_to_png(svg, scale=_RESOLUTION))


def specification(chart: Chart) -> dict[str, Any]:
    """The chart in Vega-Lite: what comes from outside stands in it as values and texts alone.

    The fields are ours, because Vega reads `a.b` and `a[0]` in a field's name as a way into it.
    """
    points = chart.points
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "background": "white",
        "padding": 12,
        "data": {"values": [_value(each, points.scale) for each in points.points]},
        "title": _title(chart),
        "mark": _mark(chart),
        "encoding": _encoding(chart),
        "config": {"font": _FONT, "axis": {"labelLimit": 220, "titleLimit": 500}},
    }


def _value(point: Point, scale: Scale) -> dict[str, Any]:
    x = moment(str(point.x)) if scale is Scale.TIME else point.x
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
    found = {"x": _x(chart), "y": _y(chart)}
    if len(chart.points.series) > 1:
        order = list(chart.points.series)
        found["color"] = {
            "field": "s", "type": "nominal", "sort": order, "title": None,
            "scale": {"scheme": "tableau10" if len(order) <= 10 else "tableau20"},
        }  # fmt: skip
        if chart.mark is Mark.BAR:
            found["xOffset"] = {"field": "s", "type": "nominal", "sort": order}
    return found


def _x(chart: Chart) -> dict[str, Any]:
    axis: dict[str, Any] = {"field": "x", "title": chart.x_title}
    match chart.points.scale:
        case Scale.TIME:
            # Without a zone of its own the axis would be that of the machine.
            return axis | {"type": "temporal", "scale": {"type": "utc"}, "axis": _dates(chart)}
        case Scale.NUMBER:
            ticks = _years(chart) if _are_years(chart) else {}
            return axis | {"type": "quantitative", "scale": {"zero": False}, "axis": ticks}
        case Scale.NAMES:
            return axis | {"type": "nominal", "sort": None, "axis": {"labelAngle": _angle(chart)}}


def _dates(chart: Chart) -> dict[str, Any]:
    """A tick at each date where they are few; else where the engine puts them."""
    places = sorted({str(each.x) for each in chart.points.points})
    if len(places) > _MOST_TICKS:
        return {}
    longest = max(len(each) for each in places)
    form = "%Y-%m" if longest <= 7 else "%Y-%m-%d" if longest <= 10 else "%Y-%m-%d %H:%M"
    return {"format": form, "values": [moment(each) for each in places], "labelOverlap": True}


def _years(chart: Chart) -> dict[str, Any]:
    """A tick at each year where they are few: the engine's half years would read as years twice."""
    places = sorted({each.x for each in chart.points.points if isinstance(each.x, float)})
    where = {"values": places, "labelOverlap": True} if len(places) <= _MOST_TICKS else {}
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
