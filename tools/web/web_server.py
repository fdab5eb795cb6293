"""Define the built-in MCP server `web`: search the web and read pages."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

from holdfast.models.calls.tool_signatures import ToolPassage
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.tools.mcp.error_reporting import OPEN_WORLD_HINTS, ErrorReportingServer
from holdfast.tools.mcp.meta_keys import READS_KEY
from holdfast.tools.web.page_cache import CachedPage
from holdfast.tools.web.page_fetcher import PageFetcher
from holdfast.tools.web.page_parts import MAX_PART_CHARS, WHOLE_PAGE_CHARS, page_part
from holdfast.tools.web.providers.search_provider import SearchHit, SearchQuery
from holdfast.tools.web.web_search import WebSearch

WEB_CONCURRENCY = 200
"""Concurrent calls; many, because calls that wait for a slow host must not block the others."""
_SITE = re.compile(r"(?=.{1,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+")

SearchWords = Annotated[
    str, Field(description="The words to look for; names and rare words find the most.")
]
ResultLimit = Annotated[int, Field(description="How many results at most.", ge=1, le=20)]
SiteHost = Annotated[
    str, Field(description='Only pages of this host, such as "who.int"; all if left out.')
]
NewerThan = Annotated[
    str,
    Field(description="Only pages published on this day or later, as YYYY-MM-DD; all if left out."),
]
PageUrl = Annotated[str, Field(description="The page's whole address, as `address` in a result.")]
PagePartStart = Annotated[
    int,
    Field(description="Where to go on in a long page: `next_start` of the part before.", ge=0),
]
FreshFlag = Annotated[
    str, Field(description='"yes" reads the page anew, and whole, whatever is remembered.')
]


_FETCH = """Reads a page of the web: HTML, PDF, plain text or JSON, as text without menus and ads.

A long page comes in parts: `next_start` says where the next one starts."""


class WebPassage(ToolPassage):
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
    fetcher: PageFetcher, search: WebSearch | None, today: Callable[[], date] = _today
) -> MCPServer:
    """Return the MCP server `web`; without `search` it only reads pages.

    If the fetcher reaches certain hosts only, the description of `fetch` names them.
    """
    server = ErrorReportingServer("web")

    if search is not None:

        @server.tool(name="search", annotations=OPEN_WORLD_HINTS)
        async def find(
            query: SearchWords,
            limit: ResultLimit = 8,
            site: SiteHost = "",
            newer_than: NewerThan = "",
        ) -> WebResults:
            """Searches the web and gives the best pages: address, title, date, and a snippet.

            A snippet is short and may be out of date: read the page itself with `fetch`.
            """
            asked = SearchQuery(
                words=_words(query),
                limit=limit,
                site=_site(site),
                newer_than=_day(newer_than),
                today=today(),
            )
            _, hits = await search.find(asked)
            return WebResults(passages=tuple(_result(hit) for hit in hits))

    @server.tool(
        description=_fetch_description(fetcher),
        annotations=OPEN_WORLD_HINTS,
        meta={READS_KEY: "url"},
    )
    async def fetch(url: PageUrl, start: PagePartStart = 0, fresh: FreshFlag = "") -> WebPage:
        is_fresh = fresh == "yes"
        kept = await fetcher.fetch(url.strip(), fresh=is_fresh)
        return _page(kept, start, WHOLE_PAGE_CHARS if is_fresh else MAX_PART_CHARS)

    return server


def _fetch_description(fetcher: PageFetcher) -> str:
    only = fetcher.polite_client.http_client.allowed.only
    return _FETCH if only is None else f"Reads pages of these hosts alone: {only}. {_FETCH}"


def _words(query: str) -> str:
    words = " ".join(query.split())
    if not words:
        raise BadInput("the query is empty: give the words to look for")
    return words[:1_000]


def _site(text: str) -> str:
    site = text.strip().lower().removeprefix("https://").removeprefix("http://")
    site = site.partition("/")[0].removeprefix("www.")
    if site and not _SITE.fullmatch(site):
        raise BadInput(
            f'{text[:200]!r} is not a host; write one such as "who.int", or leave it out'
        )
    return site


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()) if text.strip() else None
    except ValueError as error:
        raise BadInput(f"{text[:80]!r} is not a day; write it as YYYY-MM-DD") from error


def _result(hit: SearchHit) -> WebPassage:
    text = hit.snippet or hit.title or hit.address
    return WebPassage(address=hit.address, title=hit.title, text=text, end=len(text), date=hit.date)


def _page(kept: CachedPage, start: int, most_chars: int) -> WebPage:
    page = kept.page
    if start and start >= len(page.text):
        raise BadInput(f"the page has {len(page.text):,} characters: none are left at {start:,}")
    part = page_part(page.text, start, most_chars)
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
                heading=passage.heading,
                text=page.text[passage.start : passage.end],
                start=passage.start,
                end=passage.end,
                date=page.date,
                author=page.author,
            )
            for passage in part.passages
        ),
    )
