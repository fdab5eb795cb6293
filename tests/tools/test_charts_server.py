"""Tests for the server `charts` through the hub: data becomes a picture, or an error names the
row."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.models.calls.tool_figures import SVG
from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.errors import ToolFailed
from holdfast.tools.charts.chart_drawing import Chart, Mark, vega_lite_specification
from holdfast.tools.charts.chart_points import (
    ChartPoints,
    epoch_milliseconds,
    parse_points,
    parse_rows,
)
from holdfast.tools.charts.charts_server import charts_server
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import BuiltinServer
from tests.support.tools.answer_or_error import answer_or_error

pytestmark = pytest.mark.slow

SALES = [
    {"year": 2020, "firm": "Acme", "sales": 1.5, "cost": 1},
    {"year": 2021, "firm": "Acme", "sales": 2.5, "cost": 2},
    {"year": 2020, "firm": "Bolt", "sales": 3, "cost": None},
]


@pytest.fixture(scope="module")
async def hub() -> AsyncIterator[Hub]:
    async with Hub({}, {"charts": BuiltinServer(charts_server())}) as opened:
        await opened.signatures()
        yield opened


async def drawn(hub: Hub, kind: str = "line", **changes: Any) -> ToolAnswer:
    usual = {
        "kind": kind,
        "data": SALES,
        "x": "year",
        "y": "sales",
        "series": "firm",
        "title": "Sales grew",
        "y_title": "Sales (EUR m)",
    }
    return await hub.call("charts.draw", usual | changes, timeout=timedelta(seconds=30))


def words(answer: ToolAnswer) -> str:
    """The texts that the drawing shows."""
    svg = next(each.data for each in answer.figures if each.media_type == SVG)
    return " | ".join(each.text or "" for each in ElementTree.fromstring(svg).iter() if each.text)


async def test_a_chart_comes_as_png_and_svg_with_its_words_and_the_same_each_time(
    hub: Hub,
) -> None:
    first, again = (
        await drawn(hub, caption="Source: filings"),
        await drawn(hub, caption="Source: filings"),
    )

    png, svg = first.figures
    assert (png.media_type, svg.media_type) == ("image/png", SVG)
    assert (png.title, png.caption) == ("Sales grew", "Source: filings")
    assert [each.sha256 for each in first.figures] == [each.sha256 for each in again.figures]
    shown = words(first)
    for text in ("Sales grew", "Source: filings", "Sales (EUR m)", "Acme", "Bolt", "2021"):
        assert text in shown
    assert "Acme: from 1.5 at 2020 to 2.5 at 2021" in first.text
    assert first.structured["points"] == 3
    assert str(svg.data) not in first.model_dump_json()


@pytest.mark.parametrize("kind", ["line", "bar", "scatter"])
async def test_what_data_says_is_text_in_the_drawing_and_nothing_else(hub: Hub, kind: str) -> None:
    hostile = '</text><script>alert(1)</script> &amp; {"expr": "1"} <image href=\'http://x/\'/>'
    rows = [{"a.b[0]": 1, hostile: 2, "s": hostile}, {"a.b[0]": 2, hostile: 3, "s": "}}'"}]

    answer = await drawn(
        hub,
        kind,
        data=rows,
        x="a.b[0]",
        y=hostile,
        series="s",
        title=hostile,
        caption=hostile,
        y_title=hostile,
    )

    svg = next(each.data for each in answer.figures if each.media_type == SVG)
    parts = list(ElementTree.fromstring(svg).iter())
    names = {each.tag.rpartition("}")[2] for each in parts}
    attributes = {name.rpartition("}")[2].lower() for each in parts for name in each.attrib}
    assert not names & {"script", "image", "foreignObject", "a", "use"}
    assert not [name for name in attributes if name in {"href", "src"} or name.startswith("on")]
    assert "<script>" in words(answer)


async def test_dates_are_in_order_of_time_and_the_same_in_every_time_zone(hub: Hub) -> None:
    data = {"day": ["2024-03-01", "2024-01-31T23:30:00-05:00", "2024-02"], "v": [3, 1, 2]}

    answer = await drawn(hub, data=data, x="day", y="v", series="")

    assert "2024-03-01 00:00" in words(answer)
    points = parse_points(parse_rows(data), x="day", y=["v"], series="")
    values = vega_lite_specification(_chart(points))["data"]["values"]
    assert [value["x"] for value in values] == [epoch_milliseconds(day) for day in data["day"]]  # type: ignore[attr-defined]
    assert epoch_milliseconds("2024-01-31T23:30:00-05:00") == epoch_milliseconds(
        "2024-02-01T04:30:00Z"
    )


def _chart(points: ChartPoints) -> Chart:
    return Chart(mark=Mark.LINE, points=points, title="t", x_title="x", y_title="y")


@pytest.mark.parametrize(
    "years", [[2022, 2024], [2022, 2023, 2024], [2010, 2024], [*range(2010, 2023)]]
)
async def test_each_year_along_x_is_written_once(hub: Hub, years: list[int]) -> None:
    rows = [{"year": year, "sales": 7.5 + number} for number, year in enumerate(years)]
    shown = words(await drawn(hub, data=rows, series="")).split(" | ")

    labels = [each for each in shown if re.fullmatch(r"2\d{3}", each)]
    assert labels == [str(year) for year in years]


async def test_signs_that_no_drawing_can_hold_are_left_out(hub: Hub) -> None:
    odd = "a\x01\x0b\ufffe\u2028b"
    rows = [{"x": odd, "y": 1}]

    answer = await drawn(hub, data=rows, x="x", y="y", series="", title=odd, y_title=odd)

    assert "a b" in words(answer)


async def test_a_logarithmic_axis_is_drawn_as_one(hub: Hub) -> None:
    plain, log = await drawn(hub), await drawn(hub, y_log=True)

    assert plain.figures[1].sha256 != log.figures[1].sha256
    with pytest.raises(ToolFailed, match="logarithmic axis has no place for values of 0 or less"):
        await drawn(hub, data=[{"year": 1, "sales": 0}], series="", y_log=True)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"data": []}, "data must be rows"),
        ({"data": [1]}, "row 1 of data must be an object"),
        ({"data": {"a": [1], "b": [1, 2]}, "x": "a", "y": "b"}, "differ in length"),
        ({"data": {"a": 1}}, "column 'a' of data must be a list"),
        ({"y": "profit"}, "no column 'profit' in data; columns: 'year', 'firm', 'sales', 'cost'"),
        ({"data": [{"year": 1, "sales": "many"}], "series": ""}, "row 1, 'sales': 'many' is not a"),
        ({"data": [{"year": 1, "sales": 10**400}], "series": ""}, "is not a finite number"),
        ({"data": [{"year": 1, "sales": None}], "series": ""}, "nothing to draw"),
        ({"data": [{"year": "2024-13", "sales": 1}], "series": ""}, "'2024-13' is no date"),
        ({"data": [{"year": 1, "sales": 1}] * 6000, "series": ""}, "the most is 5000"),
        ({"data": [{"year": 1, "sales": 1, "s": i} for i in range(30)], "series": "s"}, "20"),
        ({"y": ["sales", "cost"]}, "either several y columns or a series column"),
        ({"title": "  "}, "title is empty"),
    ],
)
async def test_what_cannot_be_drawn_is_told_with_the_way_out(
    hub: Hub, changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(ToolFailed, match=re.escape(told)):
        await drawn(hub, **changes)


async def test_two_values_for_one_bar_and_names_in_a_scatter_are_refused(hub: Hub) -> None:
    with pytest.raises(ToolFailed, match="two rows are for the same bar, '2020'"):
        await drawn(hub, "bar", series="")
    with pytest.raises(ToolFailed, match="a scatter chart needs numbers or dates"):
        await drawn(hub, "scatter", x="firm", series="")


async def test_many_drawings_at_once_are_those_of_their_own_data(hub: Hub) -> None:
    titles = [f"Chart {number}" for number in range(6)]

    answers = await asyncio.gather(*(drawn(hub, title=title) for title in titles))

    assert [title in words(answer) for title, answer in zip(titles, answers, strict=True)] == [
        True
    ] * 6


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
DATA = st.lists(st.dictionaries(st.sampled_from("xys"), SCALARS), max_size=5) | st.dictionaries(
    st.sampled_from("xys"), st.lists(SCALARS, max_size=4) | SCALARS
)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=DATA,
    kind=st.sampled_from(["line", "bar", "scatter", "pie"]),
    y=st.sampled_from(["y", ["x", "y"], [], "z"]),
    series=st.sampled_from(["", "s"]),
    title=st.text(max_size=40),
    y_log=st.booleans(),
)
async def test_any_arguments_give_a_chart_or_an_error_in_words(
    hub: Hub, data: Any, kind: str, y: Any, series: str, title: str, y_log: bool
) -> None:
    changes = {"data": data, "x": "x", "y": y, "series": series, "title": title, "y_log": y_log}

    found = await answer_or_error(drawn(hub, kind, **changes))

    if isinstance(found, str):
        assert found.startswith(("charts.", "argument"))
        assert "could not be drawn" not in found
    else:
        assert len(found.figures) == 2
