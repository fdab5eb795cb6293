"""Define the built-in MCP server `charts`: draw line, bar and scatter charts from rows of data."""

import asyncio
import base64
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ContentBlock, ImageContent, TextContent, ToolAnnotations
from pydantic import Field, JsonValue

from holdfast.models.calls.tool_figures import SVG
from holdfast.models.errors import BadInput
from holdfast.tools.charts.chart_description import describe_chart
from holdfast.tools.charts.chart_drawing import Chart, ChartImages, Mark, draw_chart
from holdfast.tools.charts.chart_points import (
    AxisScale,
    one_drawable_line,
    parse_points,
    parse_rows,
)
from holdfast.tools.mcp.answers.answer_images import FIGURE_KEY

_SAFE = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False
)

ChartData = Annotated[
    list[JsonValue] | dict[str, JsonValue],
    Field(description='Rows: [{"year": 2020, "sales": 1.5}]; or columns: {"year": [2020], ...}.'),
]
XColumn = Annotated[str, Field(description="The column along the horizontal axis.")]
YColumns = Annotated[
    str | list[str], Field(description="The column of values; a list draws a series of each.")
]
ChartTitle = Annotated[str, Field(description="The one message of the chart.", max_length=200)]
YTitle = Annotated[str, Field(description="What y is, with its unit: `Revenue (EUR m)`.")]
XTitle = Annotated[str, Field(description="What x is; the column's name if left out.")]
SeriesColumn = Annotated[str, Field(description="The column that says which series a row is of.")]
ChartCaption = Annotated[str, Field(description="Source and remarks.", max_length=500)]
LogScale = Annotated[bool, Field(description="A logarithmic vertical axis.")]


def charts_server() -> MCPServer:
    """Return the MCP server `charts`, which accesses no files and no network."""
    server = MCPServer("charts")

    @server.tool(annotations=_SAFE, structured_output=False)
    async def draw(
        kind: Mark,
        data: ChartData,
        x: XColumn,
        y: YColumns,
        title: ChartTitle,
        y_title: YTitle,
        x_title: XTitle = "",
        series: SeriesColumn = "",
        caption: ChartCaption = "",
        y_log: LogScale = False,
    ) -> CallToolResult:
        """Draws a line, bar or scatter chart for the report; x is numbers, dates or names."""
        columns = [y] if isinstance(y, str) else list(dict.fromkeys(y))
        try:
            chart = Chart(
                mark=kind,
                points=parse_points(
                    parse_rows(data), x=x, y=columns, series=series, names=kind is Mark.BAR
                ),
                title=_line(title, "title"),
                caption=_line(caption),
                x_title=_line(x_title) or _line(x),
                y_title=_line(y_title, "y_title"),
                y_log=y_log,
            )
            _check(chart)
        except BadInput as fault:
            raise ToolError(str(fault)) from fault
        return await _drawn(chart)

    return server


async def _drawn(chart: Chart) -> CallToolResult:
    try:
        pictures = await asyncio.to_thread(draw_chart, chart)
    except ValueError as odd:
        raise ToolError(f"this could not be drawn: {str(odd)[:300]}") from odd
    return _answer(chart, pictures)


def _line(text: str, name: str = "") -> str:
    """Return the text on one line.

    Raises:
        BadInput: the text is empty although it has a `name`.
    """
    line = one_drawable_line(text)[:500]
    if name and not line:
        raise BadInput(f"{name} is empty; say what the chart shows")
    return line


def _check(chart: Chart) -> None:
    """Reject valid parts that together give no chart or a misleading chart.

    Raises:
        BadInput: the chart is wrong; the message says what to change.
    """
    if chart.y_log and any(point.y <= 0 for point in chart.points.points):
        raise BadInput("a logarithmic axis has no place for values of 0 or less: set y_log=false")
    if chart.mark is Mark.SCATTER and chart.points.scale is AxisScale.NAMES:
        raise BadInput("a scatter chart needs numbers or dates along x; draw bars of names")
    if chart.mark is Mark.BAR:
        places = [(point.x, point.series) for point in chart.points.points]
        if len(set(places)) < len(places):
            twice = next(place for place in places if places.count(place) > 1)
            raise BadInput(
                f"two rows are for the same bar, {twice[0]!r}: sum them, or name a series"
            )


def _answer(chart: Chart, pictures: ChartImages) -> CallToolResult:
    about = {FIGURE_KEY: {"title": chart.title, "caption": chart.caption}}
    images: list[ContentBlock] = [
        ImageContent(data=base64.b64encode(data).decode("ascii"), mime_type=media_type, _meta=about)
        for media_type, data in (("image/png", pictures.png), (SVG, pictures.svg))
    ]
    description = describe_chart(chart)
    names = [each for each in chart.points.series if each]
    return CallToolResult(
        content=[TextContent(text=description), *images],
        structured_content={
            "title": chart.title,
            "caption": chart.caption,
            "chart": description,
            "points": len(chart.points.points),
            "series": names,
        },
    )
