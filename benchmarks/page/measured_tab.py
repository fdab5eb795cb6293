"""A tab of Chromium that counts what it receives, and says when it painted and what it holds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from playwright.async_api import Browser, CDPSession, Page

from benchmarks.api.served_installation import ServedInstallation
from holdfast.api.access.installation_token import make_token
from holdfast.web.access.page_links import make_link_token

_ENTRY_WITHIN_MS = 240_000
_PAINT = """() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"""
_NAVIGATION = """() => {
  const entry = performance.getEntriesByType('navigation')[0];
  return [entry.responseEnd, entry.transferSize, entry.decodedBodySize];
}"""
_SEEN = """() => {
  window.seen = [];
  let newest = 0;
  const log = document.getElementById('log');
  const note = () => {
    const found = [...log.querySelectorAll('tr[data-entry]')];
    const numbers = found.map(row => Number(row.dataset.entry)).sort((a, b) => a - b);
    for (const number of numbers) if (number > newest) window.seen.push([number, Date.now()]);
    newest = Math.max(newest, ...numbers);
  };
  note();
  window.seen = [];
  new MutationObserver(note).observe(log, {childList: true, subtree: true});
}"""


@dataclass(frozen=True)
class Painted:
    """One load of a page; times in milliseconds since the address was opened."""

    first_paint_ms: float
    received_ms: float
    sent_bytes: int
    html_bytes: int


@dataclass
class MeasuredTab:
    """A signed-in tab."""

    page: Page
    cdp: CDPSession
    url: str
    received_bytes: int = 0

    async def load(self, path: str) -> Painted:
        """Open the address, and wait until something was painted."""
        await self.page.goto(f"{self.url}{path}")
        await self.page.wait_for_function(_PAINT)
        received, sent, html = await self.page.evaluate(_NAVIGATION)
        return Painted(await self.page.evaluate(_PAINT), received, sent, html)

    async def note_entries(self) -> None:
        """Note when each entry of the log comes into the page that is not there yet."""
        await self.page.evaluate(_SEEN)

    async def seen_entries(self) -> list[tuple[int, float]]:
        """Numbers of entries with the time, in seconds, at which the page showed them."""
        return [(seq, at / 1000) for seq, at in await self.page.evaluate("() => window.seen")]

    async def wait_for_entry(self) -> None:
        """Wait until an entry has come, on a busy machine for long."""
        await self.page.wait_for_function("window.seen.length > 0", timeout=_ENTRY_WITHIN_MS)

    async def heap_mb(self) -> float:
        """What the page's scripts and elements hold after a collection."""
        await self.cdp.send("HeapProfiler.collectGarbage")
        found = await self.cdp.send("Performance.getMetrics")
        return (
            float(next(m["value"] for m in found["metrics"] if m["name"] == "JSHeapUsedSize")) / 1e6
        )


@asynccontextmanager
async def measured_tab(browser: Browser, served: ServedInstallation) -> AsyncIterator[MeasuredTab]:
    """A tab of a profile of its own, signed in with a one-time address."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    page = await context.new_page()
    cdp = await context.new_cdp_session(page)
    tab = MeasuredTab(page, cdp, str(served.http.base_url).removesuffix("/v1/").removesuffix("/v1"))

    def count(event: dict[str, int]) -> None:
        tab.received_bytes += event["encodedDataLength"] or event["dataLength"]

    cdp.on("Network.dataReceived", count)
    for domain in ("Network", "Performance", "HeapProfiler"):
        await cdp.send(f"{domain}.enable")
    token = make_link_token(make_token(served.installation.settings.home))
    await page.goto(f"{tab.url}/open?token={token}")
    try:
        yield tab
    finally:
        await context.close()
