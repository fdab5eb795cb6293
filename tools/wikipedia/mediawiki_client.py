"""Search a MediaWiki and read its articles at their current revision."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from holdfast.models.errors import DocumentGone, ToolFailed
from holdfast.models.frozen_model import Frozen
from holdfast.tools.web.content_types import BodyKind
from holdfast.tools.web.http_client.address_rules import parse_target
from holdfast.tools.web.http_client.host_limited_client import PoliteClient
from holdfast.tools.web.http_client.http_exchange import HttpRequest
from holdfast.tools.web.page_text import PageText
from holdfast.tools.web.providers.search_provider import url_with_query
from holdfast.tools.web.reader_pool import ReaderPool
from holdfast.tools.wikipedia.mediawiki_answers import (
    WikiPage,
    WikiSearchHit,
    article_title,
    parse_api_answer,
    parse_page,
    parse_search_hits,
    parse_suggestion,
    parsed_page_html,
)

_MAX_ARTICLES = 100
# Seconds of replication lag; above it the wiki answers that programs should come back later.
_MAXLAG = 5


class WikiArticle(Frozen):
    """A page with its text."""

    place: WikiPage
    text: str


class WikiSearchResults(Frozen):
    """The hits of a search, and the words that the wiki suggests instead."""

    found: tuple[WikiSearchHit, ...]
    suggestion: str = ""


@dataclass
class MediaWikiClient:
    """A client of one wiki's `api.php`; it caches articles by revision, which never changes."""

    api: str
    polite_client: PoliteClient
    readers: ReaderPool
    _kept: OrderedDict[int, PageText] = field(default_factory=OrderedDict)

    @property
    def host_and_port(self) -> tuple[str, int]:
        """Return the host and the port of the wiki."""
        target = parse_target(self.api, self.polite_client.http_client.allowed)
        return target.host, target.port

    async def search(self, words: str, limit: int) -> WikiSearchResults:
        """Search for pages that contain the words; return the best first.

        Raises:
            ToolBusy: the wiki is busy or unavailable.
            ToolFailed: the wiki refuses.
        """
        answer = await self._asked(
            action="query",
            list="search",
            srsearch=words,
            srlimit=limit,
            srinfo="suggestion",
            srprop="snippet|timestamp",
            meta="siteinfo",
            siprop="general",
        )
        return WikiSearchResults(
            found=parse_search_hits(answer, self.api), suggestion=parse_suggestion(answer)
        )

    async def place(self, title: str) -> WikiPage | None:
        """Return the page of this title, or the target of its redirect; None if it does not exist.

        Raises:
            ToolBusy: the wiki is busy or unavailable.
            ToolFailed: the wiki refuses.
            BadInput: the title is not valid.
        """
        answer = await self._asked(
            action="query",
            titles=article_title(title),
            redirects=1,
            prop="info|revisions|pageprops",
            inprop="url",
            rvprop="ids|timestamp",
            ppprop="disambiguation",
        )
        return parse_page(answer)

    async def article(self, title: str) -> WikiArticle:
        """Return the current article of this title.

        Raises:
            DocumentGone: the article does not exist; the message names similar articles.
            ToolFailed: the article has no text, or the wiki refuses.
            ToolBusy: the wiki is busy or unavailable.
            BadInput: the title is not valid.
        """
        place = await self.place(title)
        if place is None:
            raise DocumentGone(await self.describe_missing_page(title))
        return await self.read(place)

    async def read(self, place: WikiPage) -> WikiArticle:
        """Return the article at this revision.

        Raises:
            ToolFailed: the article has no text, or cannot be read.
            ToolBusy: the wiki is busy or unavailable.
        """
        page = self._kept.get(place.revision)
        if page is None:
            answer = await self._asked(
                action="parse",
                oldid=place.revision,
                prop="text",
                disableeditsection=1,
                disabletoc=1,
                disablelimitreport=1,
            )
            body = parsed_page_html(answer).encode("utf-8", "replace")
            page = await self.readers.read(BodyKind.WIKI, place.address, "utf-8", body)
            self._kept[place.revision] = page
            if len(self._kept) > _MAX_ARTICLES:
                self._kept.popitem(last=False)
        if not page.text.strip():
            raise ToolFailed(f"the page {place.title!r} holds no text: read another one")
        return WikiArticle(place=place, text=page.text)

    async def describe_missing_page(self, title: str) -> str:
        """Return a message for a missing title, with similar titles."""
        mentions = await self.search(article_title(title), 5)
        similar = [hit.title for hit in mentions.found] or [mentions.suggestion]
        shown = ", ".join(filter(None, similar))
        return f"could not find {title[:200]!r}; similar: {shown or 'nothing'}"

    async def _asked(self, **parameters: str | int) -> dict[str, Any]:
        common: dict[str, str | int] = {"format": "json", "formatversion": 2, "maxlag": _MAXLAG}
        address = url_with_query(self.api, parameters | common)
        target = parse_target(address, self.polite_client.http_client.allowed)
        reply = await self.polite_client.visit(
            HttpRequest(target, headers={"Accept": "application/json"})
        )
        if reply.status != 200:
            raise ToolFailed(f"the wiki at {target.host} answers {reply.status}: check its url")
        return parse_api_answer(reply.body)
