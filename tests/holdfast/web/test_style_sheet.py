"""Tests of what the style sheet alone decides: motion, long words, and the direction of lists."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from playwright.async_api import Browser, Page, ViewportSize

from holdfast.models.budget.spend_breakdown import Spend
from holdfast.models.calls.call_records import CallView
from holdfast.web.rendering.page_templates import STATIC_FOLDER, _environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

_PHONE: ViewportSize = {"width": 360, "height": 740}
_LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk" * 8
_FITS = "(e => e.scrollWidth <= e.clientWidth)(document.querySelector('.scroll'))"
_LABEL = "getComputedStyle(document.querySelector('{}'), '::before').content"
_LIST = '<main><article><ul><li dir="auto">من خلف مصمم منارة غانيت</li></ul></article></main>'
_TABLE = """<main><div class="scroll"><table class="stacked"><tr><td>T1</td>
<td class="long wide">{}</td><td class="end">92%</td></tr></table></div></main>"""


async def _shown(browser: Browser, body: str, width: int = 360) -> Page:
    page = await browser.new_page(viewport={**_PHONE, "width": width})
    await page.set_content(f"<!doctype html>{body}")
    await page.add_style_tag(path=STATIC_FOLDER / "holdfast.css")
    return page


@pytest.mark.conformance("WEB-07")
async def test_nothing_moves_for_a_reader_who_wants_no_motion(browser: Browser) -> None:
    page = await _shown(browser, '<svg><g class="running"><circle class="dot" r="4"/></g></svg>')
    moving = []
    for motion in ("no-preference", "reduce"):
        await page.emulate_media(reduced_motion=motion)  # type: ignore[arg-type]  # a word
        moving.append(await page.evaluate("document.getAnimations().length"))

    assert moving == [1, 0]


@pytest.mark.conformance("WEB-07")
@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.long
async def test_a_very_long_word_wraps_in_a_table(width: int, browser: Browser) -> None:
    page = await _shown(browser, _TABLE.format(_LONG), width)

    assert await page.evaluate("document.querySelector('.scroll').scrollWidth") <= width


@pytest.mark.conformance("WEB-07")
@pytest.mark.long
async def test_a_phone_shows_what_was_spent_without_scrolling(browser: Browser) -> None:
    spent = Spend(
        name="qwen3-4b-instruct-2507",
        calls=1234,
        input_tokens=1_234_567,
        output_tokens=123_456,
        cost=Decimal("12.34"),
    )
    template = _environment().get_template("spend_table.html.jinja")
    table = template.module.spend_table("By model", [spent], "USD", is_by_model=True)  # type: ignore[attr-defined]  # a macro
    page = await _shown(browser, f"<main>{table}</main>")

    assert await page.evaluate(_FITS)
    assert "Cost" in await page.evaluate(_LABEL.format("td:last-child"))


@pytest.mark.conformance("WEB-07")
async def test_a_phone_shows_every_call_without_scrolling(browser: Browser) -> None:
    now = datetime.now(UTC)
    call = CallView(
        id=1, kind="model", role="extractor", task="T12/3", name="qwen3-4b-instruct-2507",
        request_hash="", status="failed", started_at=now, finished_at=now, sends=3, reused=2,
        tokens={"input": 1_234_567, "output": 123_456}, cost=Decimal("12.34"), error=_LONG,
    )  # fmt: skip
    template = _environment().get_template("call_table.html.jinja")
    table = template.module.call_table([call], "USD")  # type: ignore[attr-defined]  # a macro
    page = await _shown(browser, f"<main>{table}</main>")

    assert await page.evaluate(_FITS)
    assert "Used again" in await page.evaluate(_LABEL.format("td:last-child"))


@pytest.mark.conformance("WEB-07")
@pytest.mark.long
async def test_the_mark_of_a_list_item_from_right_to_left_stays_in_the_window(
    browser: Browser,
) -> None:
    page = await _shown(browser, _LIST)

    assert await page.evaluate("document.documentElement.scrollWidth") <= _PHONE["width"]
