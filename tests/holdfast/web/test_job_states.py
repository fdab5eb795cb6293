"""Tests for the page of a job in each state: one outcome, accessible in light and dark."""

from collections.abc import AsyncIterator

import pytest

from tests.support.documentation.internal_names import internal_names_in
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.page_states import STATES, PageStates
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.browser import Reader

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

OUTCOMES = {
    "answered": ("answered", "good"),
    "unsure": ("unsure, 55%", "weak"),
    "no-answer": ("no answer found", "plain"),
    "failed": ("no plan could be made", "bad"),
    "cancelled": ("cancelled", "plain"),
    "paused": ("paused", "weak"),
    "waiting": ("waits for you", "weak"),
    "queued": ("queued", "plain"),
    "running": ("running", "live"),
}


@pytest.fixture
async def jobs(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel
) -> AsyncIterator[dict[str, str]]:
    states = PageStates(engine, players, model)
    yield await states.make_all()
    await states.close()


@pytest.mark.conformance("WEB-07")
async def test_each_state_shows_one_outcome_and_is_accessible(
    jobs: dict[str, str], reader: Reader
) -> None:
    await reader.goto("/jobs")
    listed = {
        await row.locator("td.q a").get_attribute("href"): row.locator(".pill")
        for row in await reader.page.locator("tbody tr").all()
    }
    for state in STATES:
        words, tone = OUTCOMES[state]
        pill = listed[f"/jobs/{jobs[state]}"]
        assert (await pill.inner_text(), await pill.get_attribute("class")) == (
            words,
            f"pill {tone}",
        )
    for scheme, width in (("light", 1440), ("dark", 360)):
        await reader.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]  # a word
        await reader.page.set_viewport_size({"width": width, "height": 800})
        for state in STATES:
            await reader.goto(f"/jobs/{jobs[state]}")
            await reader.check_accessible()
            shown = reader.page.locator("#now .pill")
            assert await shown.count() == 1
            assert internal_names_in(await reader.page.locator("main").inner_text()) == set()
            if state != "running":
                assert await shown.inner_text() == OUTCOMES[state][0]
        await reader.goto(f"/jobs/{jobs['answered']}/report?mark=1")
        await reader.check_accessible()
    for path in ("log", "calls", "report", "retry?task=T1"):
        await reader.goto(f"/jobs/{jobs['answered']}/{path}")
        assert internal_names_in(await reader.page.locator("main").inner_text()) == set()
