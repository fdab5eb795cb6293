"""Define the built-in MCP server `wikipedia`: search, read pages and sections, look up words."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

from holdfast.models.calls.tool_signatures import ToolPassage
from holdfast.models.errors import BadInput, ToolFailed
from holdfast.models.frozen_model import Frozen
from holdfast.tools.documents.passage_splitter import split_passages
from holdfast.tools.mcp.error_reporting import OPEN_WORLD_HINTS, ErrorReportingServer
from holdfast.tools.mcp.meta_keys import READS_KEY, REMEMBERS_KEY
from holdfast.tools.web.page_parts import MAX_PART_CHARS, WHOLE_PAGE_CHARS, page_part
from holdfast.tools.wikipedia.mediawiki_answers import WikiSearchHit
from holdfast.tools.wikipedia.mediawiki_client import MediaWikiClient, WikiArticle
from holdfast.tools.wikipedia.sentence_lookup import HeadedSpan, find_sentences, list_section_names
from holdfast.tools.wikipedia.sentence_lookup import find_section as section_of

_MAX_JOBS = 10_000
_LEAD_CHARS = 1_500

TitleOrWords = Annotated[str, Field(description="The name of a thing, or words to look for.")]
SimilarPageLimit = Annotated[int, Field(description="How many similar pages at most.", ge=1, le=20)]
PageTitle = Annotated[str, Field(description="The page's title, or its address.")]
ArticlePartStart = Annotated[
    int,
    Field(description="Where to go on in a long page: `next_start` of the part before.", ge=0),
]
SectionName = Annotated[str, Field(description="The section's heading, as it stands in the page.")]
SearchTerm = Annotated[
    str, Field(description="The word or words to look up, as the page writes them.")
]
MatchNumber = Annotated[
    int, Field(description="Which of the sentences that hold it: 1 is the first, then 2.", ge=1)
]
OptionalPageTitle = Annotated[
    str, Field(description="The page's title; the page that was read last if left out.")
]
WholePageFlag = Annotated[str, Field(description='"yes" gives the whole page in one part.')]
CallingJob = Annotated[str, Field(description="Filled in by Holdfast.")]


class WikiPassage(ToolPassage):
    """A passage, verbatim; `date` is the day of the revision that was read, as YYYY-MM-DD."""


class WikiAnswer(Frozen):
    """What was found; `note` says what to know about it."""

    note: str = ""
    next_start: int | None = None
    """Where the next part of a long page starts; none: this part ends it."""
    passages: tuple[WikiPassage, ...]


class LastReadPages:
    """The page that each job read last, while the worker runs."""

    def __init__(self) -> None:
        self._titles: OrderedDict[str, str] = OrderedDict()

    def note(self, job: str, title: str) -> None:
        """Record that the job read this page."""
        if not job:
            return
        self._titles[job] = title
        self._titles.move_to_end(job)
        if len(self._titles) > _MAX_JOBS:
            self._titles.popitem(last=False)

    def of(self, job: str) -> str:
        """Return the title of the page that the job read last.

        Raises:
            BadInput: the job has read no page since the worker started.
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
    """The tools; `job` is the id of the calling job."""

    wiki: MediaWikiClient
    last: LastReadPages

    async def search(
        self, query: TitleOrWords, limit: SimilarPageLimit = 5, job: CallingJob = ""
    ) -> WikiAnswer:
        """Searches Wikipedia: the beginning of the page of that name, and similar pages.

        If there is a page of that name, `lookup` then looks words up in it.
        """
        mentions = await self.wiki.search(_words(query), limit)
        article = await _named(self.wiki, query)
        if article is None and not mentions.found:
            meant = f"; did you mean {mentions.suggestion!r}?" if mentions.suggestion else ""
            raise ToolFailed(f"could not find {query[:200]!r}{meant or ': use other words'}")
        similar = [hit for hit in mentions.found if not article or hit.title != article.place.title]
        passages = tuple(_mention(hit) for hit in similar)
        titles = ", ".join(hit.title for hit in similar)
        if article is None:
            note = f"Could not find a page called {query[:200]!r}. Similar: {titles}"
            return WikiAnswer(note=note, passages=passages)
        self.last.note(job, article.place.title)
        note = _about(article) + (f" Similar: {titles}" if titles else "")
        return WikiAnswer(note=note, passages=(_lead(article), *passages))

    async def page(
        self,
        title: PageTitle,
        start: ArticlePartStart = 0,
        job: CallingJob = "",
        fresh: WholePageFlag = "",
    ) -> WikiAnswer:
        """Reads a page of Wikipedia, as text with its headings and tables.

        A long page comes in parts: `next_start` says where the next one starts.
        """
        article = await self.wiki.article(title)
        self.last.note(job, article.place.title)
        part = page_part(
            article.text, start, WHOLE_PAGE_CHARS if fresh == "yes" else MAX_PART_CHARS
        )
        if not part.passages:
            size = len(article.text)
            raise BadInput(f"the page has {size:,} characters: none are left at {start:,}")
        return WikiAnswer(
            note=_about(article),
            next_start=part.next_start,
            passages=tuple(_passage(article, HeadedSpan(*passage)) for passage in part.passages),
        )

    async def section(
        self, title: PageTitle, name: SectionName, job: CallingJob = ""
    ) -> WikiAnswer:
        """Reads one section of a page of Wikipedia, with the sections below it."""
        article = await self.wiki.article(title)
        self.last.note(job, article.place.title)
        span = section_of(article.text, name)
        if span is None:
            names = ", ".join(list_section_names(article.text)) or "none"
            raise ToolFailed(
                f"the page {article.place.title!r} has no section {name[:200]!r}; its sections: "
                f"{names[:1500]}"
            )
        inside = split_passages(article.text[span.start : span.end])
        return WikiAnswer(
            note=_about(article),
            passages=tuple(
                _passage(
                    article,
                    HeadedSpan(
                        passage.heading or span.heading,
                        span.start + passage.start,
                        span.start + passage.end,
                    ),
                )
                for passage in inside
            ),
        )

    async def lookup(
        self,
        term: SearchTerm,
        nth: MatchNumber = 1,
        title: OptionalPageTitle = "",
        job: CallingJob = "",
    ) -> WikiAnswer:
        """Looks a word up in the page that was read last: the nth sentence that holds it.

        Ask again with `nth` 2, 3 and so on for the next ones.
        """
        article = await self.wiki.article(title or self.last.of(job))
        if title:
            self.last.note(job, article.place.title)
        sentences = find_sentences(article.text, _words(term))
        where = f"in the page {article.place.title!r}"
        if not sentences:
            raise ToolFailed(f"{term[:200]!r} does not stand {where}: look up another word")
        if nth > len(sentences):
            raise ToolFailed(
                f"no more results: {term[:200]!r} stands in {len(sentences)} sentences {where}"
            )
        note = f"(Result {nth} / {len(sentences)}) {where}"
        return WikiAnswer(note=note, passages=(_passage(article, sentences[nth - 1]),))


def wikipedia_server(wiki: MediaWikiClient) -> MCPServer:
    """Return the MCP server `wikipedia` for the wiki."""
    server = ErrorReportingServer("wikipedia")
    tools = WikiTools(wiki, LastReadPages())
    server.add_tool(tools.search, annotations=OPEN_WORLD_HINTS)
    server.add_tool(tools.page, annotations=OPEN_WORLD_HINTS, meta={READS_KEY: "title"})
    server.add_tool(tools.section, annotations=OPEN_WORLD_HINTS)
    server.add_tool(tools.lookup, annotations=OPEN_WORLD_HINTS, meta={REMEMBERS_KEY: True})
    return server


async def _named(wiki: MediaWikiClient, query: str) -> WikiArticle | None:
    """Return the article of exactly this name; None if it does not exist or is not a title."""
    try:
        place = await wiki.place(query)
    except BadInput:
        return None
    return await wiki.read(place) if place else None


def _words(text: str) -> str:
    words = " ".join(text.split())
    if not words:
        raise BadInput("nothing to look for was given: give a word")
    return words[:300]


def _about(article: WikiArticle) -> str:
    place = article.place
    said = f"This is the page {place.title!r}, as of {place.date}."
    if place.redirected_from:
        said += f" It was found under {place.redirected_from!r}, which leads here."
    if place.is_disambiguation:
        said += " The name means several things: choose one of the pages it lists."
    return said


def _lead(article: WikiArticle) -> WikiPassage:
    """Return the text before the first heading, or its first part if it is long."""
    passages = split_passages(article.text)
    lead = [passage for passage in passages if not passage.heading] or list(passages)
    start, end = lead[0].start, lead[0].end
    for passage in lead[1:]:
        if passage.end - start <= _LEAD_CHARS:
            end = passage.end
    return _passage(article, HeadedSpan("", start, end))


def _passage(article: WikiArticle, at: HeadedSpan) -> WikiPassage:
    return WikiPassage(
        address=article.place.address,
        title=article.place.title,
        heading=at.heading,
        text=article.text[at.start : at.end],
        start=at.start,
        end=at.end,
        date=article.place.date,
    )


def _mention(hit: WikiSearchHit) -> WikiPassage:
    text = hit.snippet or hit.title
    return WikiPassage(
        address=hit.address, title=hit.title, text=text, end=len(text), date=hit.date
    )
