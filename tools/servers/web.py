"""The built-in MCP server `web`: searches the web and reads its pages."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

from models.base import Frozen
from models.errors import BadInput
from models.tools import ToldPassage
from tools.marks import READS
from tools.servers.saying import OPEN_WORLD, SayingServer
from tools.web.fetching import Fetcher
from tools.web.pages import Kept
from tools.web.parts import MOST_CHARS, WHOLE, part_of
from tools.web.providers.base import Hit, Query
from tools.web.searching import Search

AT_ONCE = 200
"""Calls at once: those that wait for a slow host's turn must not keep the others out."""
_SITE = re.compile(r"(?=.{1,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+")

Words = Annotated[
    str, Field(description="The words to look for; names and rare words find the most.")
]
Limit = Annotated[int, Field(description="How many results at most.", ge=1, le=20)]
Site = Annotated[
    str, Field(description='Only pages of this host, such as "who.int"; all if left out.')
]
NewerThan = Annotated[
    str,
    Field(description="Only pages published on this day or later, as YYYY-MM-DD; all if left out."),
]
Url = Annotated[str, Field(description="The page's whole address, as `address` in a result.")]
Start = Annotated[
    int,
    Field(description="Where to go on in a long page: `next_start` of the part before.", ge=0),
]
Fresh = Annotated[
    str, Field(description='"yes" reads the page anew, and whole, whatever is remembered.')
]


class WebPassage(ToldPassage):
    """A passage, verbatim; `date` is when its page says it was published, as YYYY-MM-DD."""

    author: str = ""


class WebResults(Frozen):
    """What a search found: the snippet of each page, best first."""

    passages: tuple[WebPassage, ...]


class WebPage(Frozen):
    """A page, or a part of a long one; offsets count in the page's text."""

    address: str
    title: str
    date: str
    author: str
    total_chars: int
    next_start: int | None
    """Where the next part starts; none: this part ends the page."""
    passages: tuple[WebPassage, ...]


def _today() -> date:
    return datetime.now(UTC).date()


def web_server(
    fetcher: Fetcher, search: Search | None, today: Callable[[], date] = _today
) -> MCPServer:
    """An MCP server over both; without `search` it reads pages only."""
    server = SayingServer("web")

    if search is not None:

        @server.tool(name="search", annotations=OPEN_WORLD)
        async def find(
            query: Words, limit: Limit = 8, site: Site = "", newer_than: NewerThan = ""
        ) -> WebResults:
            """Searches the web and gives the best pages: address, title, date, and a snippet.

            A snippet is short and may be out of date: read the page itself with `fetch`.
            """
            asked = Query(
                words=_words(query),
                limit=limit,
                site=_site(site),
                newer_than=_day(newer_than),
                today=today(),
            )
            _, hits = await search.find(asked)
            return WebResults(passages=tuple(_result(hit) for hit in hits))

    @server.tool(annotations=OPEN_WORLD, meta={READS: "url"})
    async def fetch(url: Url, start: Start = 0, fresh: Fresh = "") -> WebPage:
        """Reads a page of the web: HTML, PDF, plain text or JSON, as text without menus and ads.

        A long page comes in parts: `next_start` says where the next one starts.
        """
        is_fresh = fresh == "yes"
        kept = await fetcher.fetch(url.strip(), fresh=is_fresh)
        return _page(kept, start, WHOLE if is_fresh else MOST_CHARS)

    return server


def _words(query: str) -> str:
    words = " ".join(query.split())
    if not words:
        raise BadInput("the query is empty: give the words to look for")
    return words[:1_000]


def _site(said: str) -> str:
    site = said.strip().lower().removeprefix("https://").removeprefix("http://")
    site = site.partition("/")[0].removeprefix("www.")
    if site and not _SITE.fullmatch(site):
        raise BadInput(
            f'{said[:200]!r} is not a host; write one such as "who.int", or leave it out'
        )
    return site


def _day(said: str) -> date | None:
    try:
        return date.fromisoformat(said.strip()) if said.strip() else None
    except ValueError as error:
        raise BadInput(f"{said[:80]!r} is not a day; write it as YYYY-MM-DD") from error


def _result(hit: Hit) -> WebPassage:
    text = hit.snippet or hit.title or hit.address
    return WebPassage(address=hit.address, title=hit.title, text=text, end=len(text), date=hit.date)


def _page(kept: Kept, start: int, most_chars: int) -> WebPage:
    page = kept.page
    if start and start >= len(page.text):
        raise BadInput(f"the page has {len(page.text):,} characters: none are left at {start:,}")
    part = part_of(page.text, start, most_chars)
    return WebPage(
        address=kept.address,
        title=page.title,
        date=page.date,
        author=page.author,
        total_chars=len(page.text),
        next_start=part.next_start,
        passages=tuple(
            WebPassage(
                address=kept.address,
                title=page.title,
                heading=each.heading,
                text=page.text[each.start : each.end],
                start=each.start,
                end=each.end,
                date=page.date,
                author=page.author,
            )
            for each in part.passages
        ),
    )
