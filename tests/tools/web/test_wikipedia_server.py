"""Tests for the server `wikipedia` over real HTTP against a wiki that answers as MediaWiki's API
does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.errors import ToolBusy, ToolFailed
from holdfast.tools.documents.html.mediawiki_html import article_text
from holdfast.tools.mcp.meta_keys import READS_KEY, REMEMBERS_KEY
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import BuiltinServer
from holdfast.tools.network_setup import open_wikipedia_client
from holdfast.tools.web.web_settings import WikipediaSettings
from holdfast.tools.wikipedia.sentence_lookup import find_section, find_sentences
from holdfast.tools.wikipedia.wikipedia_server import wikipedia_server
from tests.support.tools.fake_wiki import FakeWiki
from tests.support.tools.hostile_web import ScriptedSite


@dataclass(frozen=True)
class Wikipedia:
    hub: Hub
    fake: FakeWiki
    site: ScriptedSite

    async def __call__(self, tool: str, *, job: str = "job-1", **arguments: Any) -> ToolAnswer:
        within = timedelta(seconds=60)
        facts = {"job": job} if job else {}
        return await self.hub.call(f"wikipedia.{tool}", arguments, timeout=within, facts=facts)


@asynccontextmanager
async def opened() -> AsyncIterator[Wikipedia]:
    fake = FakeWiki()
    async with ScriptedSite({"/w/api.php": fake.answer}) as site:
        table = WikipediaSettings(contact="ada@example.org", url=site.url("/w/api.php"))
        async with open_wikipedia_client(table) as wiki:
            bind = {"job": "job", "fresh": "fresh"}
            builtin = {"wikipedia": BuiltinServer(wikipedia_server(wiki), bind)}
            async with Hub({}, builtin) as hub:
                yield Wikipedia(hub, fake, site)


@pytest.fixture(scope="module")
async def wikipedia() -> AsyncIterator[Wikipedia]:
    async with opened() as wikipedia:
        yield wikipedia


async def test_page_of_that_name_begins_the_answer_of_a_search(wikipedia: Wikipedia) -> None:
    answer = await wikipedia("search", query="Shirley Temple Black")

    first, *similar = answer.structured["passages"]
    assert first["address"] == "https://en.wikipedia.org/wiki/Shirley_Temple"
    assert "was an American actress and" in first["text"]
    assert "[1]" not in first["text"]
    assert "Early years" not in first["text"]
    assert first["date"] == "2026-05-06"
    assert "found under 'Shirley Temple Black', which leads here" in answer.structured["note"]
    assert [each["title"] for each in similar] == ["Shirley Temple (drink)"]
    assert similar[0]["address"].endswith("/wiki/Shirley_Temple_(drink)")
    assert similar[0]["text"] == 'The shirley of "Shirley Temple (drink)"'


async def test_name_that_no_page_has_gives_similar_ones(wikipedia: Wikipedia) -> None:
    answer = await wikipedia("search", query="temple grandin")

    assert answer.structured["note"] == (
        "Could not find a page called 'temple grandin'. Similar: Shirley Temple, "
        "Shirley Temple (drink)"
    )
    with pytest.raises(ToolFailed, match="did you mean 'shirley temple'"):
        await wikipedia("search", query="shriley tempel")


async def test_page_comes_as_text_with_headings(wikipedia: Wikipedia) -> None:
    answer = await wikipedia("page", title="https://en.wikipedia.org/wiki/Shirley_Temple#Death")

    text = "\n".join(each.text for each in answer.passages)
    assert "She had two brothers." in text
    assert not {"[edit]", "[1]", "Navigation"} & set(text.split())
    death = next(each for each in answer.passages if "85" in each.text)
    assert death.heading == "Death"
    assert "| Year | Film |\n| 1934 | Bright Eyes |" in text
    assert "- One\n  - Two" in text
    assert answer.structured["next_start"] is None


async def test_page_that_means_several_things_says_so(wikipedia: Wikipedia) -> None:
    answer = await wikipedia("page", title="Shirley_Temple_(drink)")

    assert "means several things" in answer.structured["note"]


async def test_unknown_page_names_similar_ones(wikipedia: Wikipedia) -> None:
    with pytest.raises(
        ToolFailed, match="could not find 'Temple Run'; similar: Shirley Temple, Shirley"
    ):
        await wikipedia("page", title="Temple Run")
    with pytest.raises(ToolFailed, match="is not a title"):
        await wikipedia("page", title="a|b")


async def test_section_comes_with_those_below_it(wikipedia: Wikipedia) -> None:
    answer = await wikipedia("section", title="Shirley Temple", name="career")

    whole = await wikipedia("page", title="Shirley Temple")
    text = "\n".join(each.text for each in answer.passages)
    assert "three years old" in text
    assert "Chief of Protocol" in text
    assert "born" not in text
    assert "died" not in text
    spans = {(each.start, each.end, each.text) for each in whole.passages}
    assert {(each.start, each.end, each.text) for each in answer.passages} <= spans
    with pytest.raises(ToolFailed, match="its sections: Early years, Career, Diplomatic career"):
        await wikipedia("section", title="Shirley Temple", name="Songs")


async def test_word_is_looked_up_in_the_page_last_read(wikipedia: Wikipedia) -> None:
    await wikipedia("search", query="Shirley Temple")

    first = await wikipedia("lookup", term="temple was")
    second = await wikipedia("lookup", term="Temple was", nth=2)

    assert first.structured["note"] == "(Result 1 / 2) in the page 'Shirley Temple'"
    assert first.passages[0].text.startswith("Temple was born on April 23, 1928, in Santa Monica.")
    assert second.passages[0].heading == "Diplomatic career"
    assert second.passages[0].text.startswith("Temple was appointed Chief of Protocol")
    with pytest.raises(ToolFailed, match="no more results: 'temple was' stands in 2 sentences"):
        await wikipedia("lookup", term="temple was", nth=3)
    with pytest.raises(ToolFailed, match="'penguin' does not stand in the page 'Shirley Temple'"):
        await wikipedia("lookup", term="penguin")


async def test_each_job_has_its_own_last_page(wikipedia: Wikipedia) -> None:
    await wikipedia("page", title="Shirley Temple", job="job-a")
    await wikipedia("page", title="Shirley Temple (drink)", job="job-b")

    assert (await wikipedia("lookup", term="grenadine", job="job-b")).passages
    with pytest.raises(ToolFailed, match="does not stand in the page 'Shirley Temple'"):
        await wikipedia("lookup", term="grenadine", job="job-a")
    for nobody in ("job-c", ""):
        with pytest.raises(ToolFailed, match="give its title"):
            await wikipedia("lookup", term="grenadine", job=nobody)


@pytest.mark.slow
async def test_title_makes_a_look_up_independent_of_what_was_read() -> None:
    """As after a restart of the worker, which forgets the page that was read last."""
    async with opened() as wikipedia:
        with pytest.raises(ToolFailed, match="the worker was started anew"):
            await wikipedia("lookup", term="born")
        answer = await wikipedia("lookup", term="born", title="Shirley Temple")
        assert "Santa Monica" in answer.passages[0].text
        assert (await wikipedia("lookup", term="died")).passages, "now it is the page last read"


async def test_wiki_is_told_who_asks_and_to_refuse_when_it_lags(wikipedia: Wikipedia) -> None:
    await wikipedia("page", title="Shirley Temple")

    assert wikipedia.fake.agents == {"holdfast/0.1 (research engine; ada@example.org)"}
    assert all(each["maxlag"] == "5" for each in wikipedia.fake.asked)


@pytest.mark.parametrize("fault", ["maxlag", "ratelimited", "readonly"])
async def test_wiki_that_lags_passes(wikipedia: Wikipedia, fault: str) -> None:
    wikipedia.fake.fault = fault
    try:
        with pytest.raises(ToolBusy, match=fault):
            await wikipedia("page", title="Shirley Temple")
        wikipedia.fake.fault = "badtoken"
        with pytest.raises(ToolFailed, match="badtoken"):
            await wikipedia("page", title="Shirley Temple")
    finally:
        wikipedia.fake.fault = ""


async def test_marks_are_declared(wikipedia: Wikipedia) -> None:
    signatures = {each.name: each for each in await wikipedia.hub.signatures()}
    tools = wikipedia.hub._places["wikipedia"].link.tools

    assert (tools["page"].tool.meta or {})[READS_KEY] == "title"
    assert (tools["lookup"].tool.meta or {})[REMEMBERS_KEY] is True
    assert await wikipedia.hub.depends_on_history("wikipedia.lookup")
    assert not await wikipedia.hub.depends_on_history("wikipedia.page")
    shown = {name: set(each.input_schema["properties"]) for name, each in signatures.items()}
    assert shown["wikipedia.lookup"] == {"term", "nth", "title"}
    assert shown["wikipedia.page"] == {"title", "start"}


_TEXTS = st.text(alphabet="ab# .!?\n*-=`", max_size=80)


@given(text=_TEXTS, term=st.text(alphabet="ab .", min_size=1, max_size=3))
def test_sentences_found_stand_where_they_say(text: str, term: str) -> None:
    found = find_sentences(text, term)

    assert all(term in text[each.start : each.end] for each in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@given(st.text(alphabet="<>/pulith2a b&;!-\0", max_size=60) | st.binary().map(bytes.hex))
def test_any_html_gives_text(page: str) -> None:
    assert "<p>" not in article_text(page.replace("\0", ""))


@given(text=_TEXTS, name=st.text(alphabet="ab", min_size=1, max_size=2))
def test_section_lies_in_the_text(text: str, name: str) -> None:
    at = find_section(text, name)

    assert at is None or 0 <= at.start <= at.end <= len(text)
