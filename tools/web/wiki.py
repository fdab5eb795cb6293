"""A MediaWiki: searches it, and reads its articles at the revision that stands now."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from models.base import Frozen
from models.errors import DocumentGone, ToolFailed
from tools.web.addresses import target_of
from tools.web.exchange import Request
from tools.web.kinds import Kind
from tools.web.providers.base import with_query
from tools.web.readable import Readable
from tools.web.readers import Readers
from tools.web.visiting import Visitor
from tools.web.wiki_api import (
    Mention,
    Place,
    answer_in,
    html_in,
    mentions_in,
    place_in,
    suggestion_in,
    title_of,
)

_MOST_KEPT = 100
# Seconds that the databases of the wiki may lag behind; above it, programs are to come back later.
_MAXLAG = 5


class Article(Frozen):
    """A page of the wiki with its text."""

    place: Place
    text: str


class Mentions(Frozen):
    """What a search found, and what else may have been meant."""

    found: tuple[Mention, ...]
    suggestion: str = ""


@dataclass
class Wiki:
    """One wiki behind its `api.php`; articles are kept by their revision, which never changes."""

    api: str
    visitor: Visitor
    readers: Readers
    _kept: OrderedDict[int, Readable] = field(default_factory=OrderedDict)

    async def search(self, words: str, limit: int) -> Mentions:
        """The pages that hold the words, best first.

        Raises:
            ToolBusy: the wiki is busy or away.
            ToolFailed: it refuses.
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
        return Mentions(found=mentions_in(answer, self.api), suggestion=suggestion_in(answer))

    async def place(self, title: str) -> Place | None:
        """The page of that title, or the one that it redirects to; none if there is none.

        Raises:
            ToolBusy: the wiki is busy or away.
            ToolFailed: it refuses.
            BadInput: no title can be so.
        """
        answer = await self._asked(
            action="query",
            titles=title_of(title),
            redirects=1,
            prop="info|revisions|pageprops",
            inprop="url",
            rvprop="ids|timestamp",
            ppprop="disambiguation",
        )
        return place_in(answer)

    async def article(self, title: str) -> Article:
        """The article of that title as it stands now.

        Raises:
            DocumentGone: there is none; names similar ones.
            ToolFailed: it holds no text, or the wiki refuses.
            ToolBusy: the wiki is busy or away.
            BadInput: no title can be so.
        """
        place = await self.place(title)
        if place is None:
            raise DocumentGone(await self.unknown(title))
        return await self.read(place)

    async def read(self, place: Place) -> Article:
        """The article at that revision.

        Raises:
            ToolFailed: it has no text, or cannot be read.
            ToolBusy: the wiki is busy or away.
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
            body = html_in(answer).encode("utf-8", "replace")
            page = await self.readers.read(Kind.WIKI, place.address, "utf-8", body)
            self._kept[place.revision] = page
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        if not page.text.strip():
            raise ToolFailed(f"the page {place.title!r} holds no text: read another one")
        return Article(place=place, text=page.text)

    async def unknown(self, title: str) -> str:
        """What to say of a title that is not there, with those that are near."""
        mentions = await self.search(title_of(title), 5)
        similar = [each.title for each in mentions.found] or [mentions.suggestion]
        shown = ", ".join(filter(None, similar))
        return f"could not find {title[:200]!r}; similar: {shown or 'nothing'}"

    async def _asked(self, **parameters: str | int) -> dict[str, Any]:
        common: dict[str, str | int] = {"format": "json", "formatversion": 2, "maxlag": _MAXLAG}
        address = with_query(self.api, parameters | common)
        target = target_of(address, self.visitor.wire.allowed)
        reply = await self.visitor.visit(Request(target, headers={"Accept": "application/json"}))
        if reply.status != 200:
            raise ToolFailed(f"the wiki at {target.host} answers {reply.status}: check its url")
        return answer_in(reply.body)
