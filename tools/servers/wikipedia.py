"""The built-in MCP server `wikipedia`: search, page, section, and look-up in the page last read."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

from models.base import Frozen
from models.errors import BadInput, ToolFailed
from models.tools import ToldPassage
from tools.marks import READS, REMEMBERS
from tools.passages import split_passages
from tools.servers.saying import OPEN_WORLD, SayingServer
from tools.web.lookup import Stretch, section_names, sentences_with
from tools.web.lookup import section as section_of
from tools.web.parts import MOST_CHARS, WHOLE, part_of
from tools.web.wiki import Article, Wiki
from tools.web.wiki_api import Mention

_MOST_JOBS = 10_000
_LEAD_CHARS = 1_500

Words = Annotated[str, Field(description="The name of a thing, or words to look for.")]
Limit = Annotated[int, Field(description="How many similar pages at most.", ge=1, le=20)]
Title = Annotated[str, Field(description="The page's title, or its address.")]
Start = Annotated[
    int,
    Field(description="Where to go on in a long page: `next_start` of the part before.", ge=0),
]
Name = Annotated[str, Field(description="The section's heading, as it stands in the page.")]
Term = Annotated[str, Field(description="The word or words to look up, as the page writes them.")]
Nth = Annotated[
    int, Field(description="Which of the sentences that hold it: 1 is the first, then 2.", ge=1)
]
OptionalTitle = Annotated[
    str, Field(description="The page's title; the page that was read last if left out.")
]
Fresh = Annotated[str, Field(description='"yes" gives the whole page in one part.')]
Job = Annotated[str, Field(description="Filled in by Holdfast.")]


class WikiPassage(ToldPassage):
    """A passage, verbatim; `date` is the day of the revision that was read, as YYYY-MM-DD."""


class WikiAnswer(Frozen):
    """What was found; `note` says what to know about it."""

    note: str = ""
    next_start: int | None = None
    """Where the next part of a long page starts; none: this part ends it."""
    passages: tuple[WikiPassage, ...]


class LastRead:
    """The page that each job read last; as long as the worker lives."""

    def __init__(self) -> None:
        self._titles: OrderedDict[str, str] = OrderedDict()

    def note(self, job: str, title: str) -> None:
        """The job has read this page."""
        if not job:
            return
        self._titles[job] = title
        self._titles.move_to_end(job)
        if len(self._titles) > _MOST_JOBS:
            self._titles.popitem(last=False)

    def of(self, job: str) -> str:
        """The title of the page that the job read last.

        Raises:
            BadInput: none is known.
        """
        title = self._titles.get(job, "")
        if not title:
            raise BadInput(
                "no page was read yet, or the worker was started anew since: give its title as "
                "`title`, or read it again with wikipedia.page"
            )
        return title


@dataclass(frozen=True)
class WikiTools:
    """The tools; `job` is who calls."""

    wiki: Wiki
    last: LastRead

    async def search(self, query: Words, limit: Limit = 5, job: Job = "") -> WikiAnswer:
        """Searches Wikipedia: the beginning of the page of that name, and similar pages.

        If there is a page of that name, `lookup` then looks words up in it.
        """
        mentions = await self.wiki.search(_words(query), limit)
        article = await _named(self.wiki, query)
        if article is None and not mentions.found:
            meant = f"; did you mean {mentions.suggestion!r}?" if mentions.suggestion else ""
            raise ToolFailed(f"could not find {query[:200]!r}{meant or ': use other words'}")
        similar = [
            each for each in mentions.found if not article or each.title != article.place.title
        ]
        passages = tuple(_mention(each) for each in similar)
        titles = ", ".join(each.title for each in similar)
        if article is None:
            note = f"Could not find a page called {query[:200]!r}. Similar: {titles}"
            return WikiAnswer(note=note, passages=passages)
        self.last.note(job, article.place.title)
        note = _about(article) + (f" Similar: {titles}" if titles else "")
        return WikiAnswer(note=note, passages=(_lead(article), *passages))

    async def page(
        self, title: Title, start: Start = 0, job: Job = "", fresh: Fresh = ""
    ) -> WikiAnswer:
        """Reads a page of Wikipedia, as text with its headings and tables.

        A long page comes in parts: `next_start` says where the next one starts.
        """
        article = await self.wiki.article(title)
        self.last.note(job, article.place.title)
        part = part_of(article.text, start, WHOLE if fresh == "yes" else MOST_CHARS)
        if not part.passages:
            size = len(article.text)
            raise BadInput(f"the page has {size:,} characters: none are left at {start:,}")
        return WikiAnswer(
            note=_about(article),
            next_start=part.next_start,
            passages=tuple(_passage(article, Stretch(*each)) for each in part.passages),
        )

    async def section(self, title: Title, name: Name, job: Job = "") -> WikiAnswer:
        """Reads one section of a page of Wikipedia, with the sections below it."""
        article = await self.wiki.article(title)
        self.last.note(job, article.place.title)
        found = section_of(article.text, name)
        if found is None:
            known = ", ".join(section_names(article.text)) or "none"
            raise ToolFailed(
                f"the page {article.place.title!r} has no section {name[:200]!r}; its sections: "
                f"{known[:1500]}"
            )
        inside = split_passages(article.text[found.start : found.end])
        return WikiAnswer(
            note=_about(article),
            passages=tuple(
                _passage(
                    article,
                    Stretch(
                        each.heading or found.heading,
                        found.start + each.start,
                        found.start + each.end,
                    ),
                )
                for each in inside
            ),
        )

    async def lookup(
        self, term: Term, nth: Nth = 1, title: OptionalTitle = "", job: Job = ""
    ) -> WikiAnswer:
        """Looks a word up in the page that was read last: the nth sentence that holds it.

        Ask again with `nth` 2, 3 and so on for the next ones.
        """
        article = await self.wiki.article(title or self.last.of(job))
        if title:
            self.last.note(job, article.place.title)
        found = sentences_with(article.text, _words(term))
        where = f"in the page {article.place.title!r}"
        if not found:
            raise ToolFailed(f"{term[:200]!r} does not stand {where}: look up another word")
        if nth > len(found):
            raise ToolFailed(
                f"no more results: {term[:200]!r} stands in {len(found)} sentences {where}"
            )
        note = f"(Result {nth} / {len(found)}) {where}"
        return WikiAnswer(note=note, passages=(_passage(article, found[nth - 1]),))


def wikipedia_server(wiki: Wiki) -> MCPServer:
    """An MCP server over the wiki."""
    server = SayingServer("wikipedia")
    tools = WikiTools(wiki, LastRead())
    server.add_tool(tools.search, annotations=OPEN_WORLD)
    server.add_tool(tools.page, annotations=OPEN_WORLD, meta={READS: "title"})
    server.add_tool(tools.section, annotations=OPEN_WORLD)
    server.add_tool(tools.lookup, annotations=OPEN_WORLD, meta={REMEMBERS: True})
    return server


async def _named(wiki: Wiki, query: str) -> Article | None:
    """The article of exactly this name; none if there is none, or no title can be so."""
    try:
        place = await wiki.place(query)
    except BadInput:
        return None
    return await wiki.read(place) if place else None


def _words(said: str) -> str:
    words = " ".join(said.split())
    if not words:
        raise BadInput("nothing to look for was given: give a word")
    return words[:300]


def _about(article: Article) -> str:
    place = article.place
    said = f"This is the page {place.title!r}, as of {place.date}."
    if place.redirected_from:
        said += f" It was found under {place.redirected_from!r}, which leads here."
    if place.is_disambiguation:
        said += " The name means several things: choose one of the pages it lists."
    return said


def _lead(article: Article) -> WikiPassage:
    """What stands before the first heading; its beginning, if that is long."""
    found = split_passages(article.text)
    lead = [each for each in found if not each.heading] or list(found)
    start, end = lead[0].start, lead[0].end
    for each in lead[1:]:
        if each.end - start <= _LEAD_CHARS:
            end = each.end
    return _passage(article, Stretch("", start, end))


def _passage(article: Article, at: Stretch) -> WikiPassage:
    return WikiPassage(
        address=article.place.address,
        title=article.place.title,
        heading=at.heading,
        text=article.text[at.start : at.end],
        start=at.start,
        end=at.end,
        date=article.place.date,
    )


def _mention(found: Mention) -> WikiPassage:
    text = found.snippet or found.title
    return WikiPassage(
        address=found.address, title=found.title, text=text, end=len(text), date=found.date
    )
