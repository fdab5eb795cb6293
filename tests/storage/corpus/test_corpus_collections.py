"""Tests for collections in a real PostgreSQL, through the store and through the corpus MCP server."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters

from holdfast.models.calls.tool_signatures import SourcePassage, ToolPassage
from holdfast.models.errors import NotFound
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import MAX_HITS, CorpusStore
from holdfast.tools.corpus.corpus_server import corpus_server

pytestmark = pytest.mark.slow

_SERVER = """
import logging, os
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.core.database import Database
from holdfast.tools.corpus.corpus_server import corpus_server

logging.basicConfig(level=logging.ERROR)
corpus_server(CorpusStore(Database(os.environ["URL"]))).run()
"""


@pytest.fixture
async def corpus(database_url: str) -> AsyncIterator[CorpusStore]:
    database = Database(database_url)
    yield CorpusStore(database)
    await database.close()


def _document(address: str, *texts: str, title: str = "", heading: str = "") -> NewDocument:
    """A document whose passages are the texts."""
    starts = [sum(len(text) + 2 for text in texts[:n]) for n in range(len(texts))]
    passages = [(heading, s, s + len(text)) for s, text in zip(starts, texts, strict=True)]
    text = "\n\n".join(texts)
    return NewDocument(address, title or address, text, str(hash(text)), len(text), passages)


async def _store(corpus: CorpusStore, collection: str, *documents: NewDocument) -> None:
    async with corpus.writing(collection) as writer:
        await writer.put(*documents)


async def _found(
    corpus: CorpusStore, query: str, collection: str = "c", limit: int = 6
) -> list[str]:
    return [hit.passage.text for hit in await corpus.search(collection, query, limit)]


async def test_a_passage_comes_back_verbatim_with_its_place(corpus: CorpusStore) -> None:
    text = "First part.\n\nThe lamp 'burned' \\ for 10% of\nthe night."
    document = replace(_document("a.md"), text=text, title="Log", passages=[("Top", 13, len(text))])
    await _store(corpus, "c", document)

    (hit,) = await corpus.search("c", "Which lamps burn?")

    assert hit.passage == SourcePassage(
        address="a.md", title="Log", heading="Top", text=text[13:], start=13, end=len(text)
    )
    assert hit.score > 0


async def test_rare_words_count_more_than_common_ones(corpus: CorpusStore) -> None:
    common = [_document(f"{n}.md", f"The keeper kept the light of year {n}.") for n in range(30)]
    await _store(corpus, "c", *common, _document("x.md", "Quillhaven had no such thing."))

    found = await _found(corpus, "Who was the keeper of the light at Quillhaven?", limit=40)

    assert found[0] == "Quillhaven had no such thing."
    assert len(found) == 31


async def test_a_passage_with_more_of_the_words_comes_first(corpus: CorpusStore) -> None:
    lens, both = "The lens was ground in Paris.", "The lens was ground by Brandreth in Paris."
    await _store(corpus, "c", _document("a.md", lens), _document("b.md", both))

    assert await _found(corpus, "Did Brandreth grind the lens?") == [both, lens]


async def test_words_of_title_and_heading_count(corpus: CorpusStore) -> None:
    of_title = _document("a.md", "Built in 1884.", title="Skerrin Point")
    of_heading = _document("b.md", "Two men.", heading="Lights > Crew of Skerrin")
    await _store(corpus, "c", of_title, of_heading)

    assert await _found(corpus, "skerrin point") == ["Built in 1884.", "Two men."]
    assert await _found(corpus, "crew") == ["Two men."]


async def test_equal_passages_come_in_the_order_of_storing(corpus: CorpusStore) -> None:
    await _store(corpus, "c", *[_document(f"{n}.md", "Same words.") for n in (3, 1, 2)])

    hits = await corpus.search("c", "words")

    assert [hit.passage.address for hit in hits] == ["3.md", "1.md", "2.md"]
    assert await corpus.search("c", "words") == hits


async def test_collections_do_not_see_each_other(corpus: CorpusStore) -> None:
    await _store(corpus, "c", _document("a.md", "The lamp of one."))
    await _store(corpus, "d", *[_document(f"{n}.md", "The lamp of another.") for n in range(9)])
    alone = (await corpus.search("c", "lamp"))[0].score
    await _store(corpus, "d", _document("more.md", "lamp lamp"))

    assert [hit.score for hit in await corpus.search("c", "lamp")] == [alone]
    with pytest.raises(NotFound):
        await corpus.read("c", "more.md")


async def test_the_limit_is_kept_within_bounds(corpus: CorpusStore) -> None:
    await _store(corpus, "c", _document("a.md", *[f"Lamp {n}." for n in range(MAX_HITS + 10)]))

    sizes = [len(await corpus.search("c", "lamp", limit)) for limit in (-1, 0, 3, 10**9)]

    assert sizes == [0, 0, 3, MAX_HITS]


JUNK = (
    "",
    " ",
    "the of and",
    "'",
    "\\",
    "a\\'b",
    "!&|():*<->",
    "\0",
    "\ud800",
    "%(x)s :y ::z",
    "💡",
)


async def test_junk_finds_nothing_and_does_not_fail(corpus: CorpusStore) -> None:
    await _store(corpus, "c", _document("a.md", "The lamp."))

    for query in JUNK:
        assert await _found(corpus, query) == [], ascii(query)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=st.text(st.characters(), max_size=80), collection=st.text(max_size=5))
async def test_no_query_fails(corpus: CorpusStore, query: str, collection: str) -> None:
    await corpus.search(collection, query)


async def test_words_with_quotes_and_backslashes_are_found(corpus: CorpusStore) -> None:
    await _store(corpus, "c", _document("a.md", r"See C:\logs\o'brien and http://x.org/a\b'c."))

    assert len(await _found(corpus, r"http://x.org/a\b'c")) == 1
    assert len(await _found(corpus, r"C:\logs\o'brien")) == 1


async def test_a_query_of_a_megabyte_is_cut(corpus: CorpusStore) -> None:
    await _store(corpus, "c", _document("a.md", "The lamp."))
    start = time.perf_counter()

    assert await _found(corpus, "lamp " * 200_000) == ["The lamp."]
    assert await _found(corpus, "x" * 1_000_000) == []
    assert time.perf_counter() - start < 2


async def test_text_that_postgresql_refuses_is_stored_at_the_same_places(
    corpus: CorpusStore,
) -> None:
    odd = _document("a.md", "nul \0 and \ud800.", "Lamp.", title="T\0")
    await _store(corpus, "c", replace(odd, metadata={"author": "A\0"}))

    first, second = await corpus.read("c", "a.md")

    assert (first.text, first.title) == ("nul \ufffd and \ufffd.", "T\ufffd")
    assert (second.text, second.start) == ("Lamp.", 14)
    (document,) = await corpus.documents("c")
    assert document.metadata == {"author": "A\ufffd"}


async def test_reading_gives_the_passages_of_a_range_in_order(corpus: CorpusStore) -> None:
    await _store(corpus, "c", _document("a.md", "One.", "Two.", "Three."))

    assert [p.text for p in await corpus.read("c", "a.md")] == ["One.", "Two.", "Three."]
    assert [p.text for p in await corpus.read("c", "a.md", 5, 7)] == ["Two."]
    assert [p.text for p in await corpus.read("c", "a.md", 3, 13)] == ["One.", "Two.", "Three."]
    assert await corpus.read("c", "a.md", 1000) == ()


async def test_an_unknown_document_is_refused_with_near_names(corpus: CorpusStore) -> None:
    await _store(corpus, "c", _document("lamp/lens.md", "One."), _document("zzz.md", "Two."))

    with pytest.raises(NotFound, match=r"no document 'lens.md'; there is 'lamp/lens.md'$"):
        await corpus.read("c", "lens.md")
    with pytest.raises(NotFound, match="the collection is empty"):
        await corpus.read("nobody's", "lens.md")


async def test_a_document_is_replaced_with_its_passages(corpus: CorpusStore) -> None:
    await _store(corpus, "c", _document("a.md", "Old lamp.", "More."), _document("b.md", "Stays."))

    new = _document("a.md", "New lamp.")
    await _store(corpus, "c", new)

    assert await _found(corpus, "old new lamp more") == ["New lamp."]
    stored = await corpus.documents("c")
    assert [document.address for document in stored] == ["a.md", "b.md"]
    assert stored[0].sha256 == new.sha256


async def test_a_document_that_cannot_be_stored_leaves_the_old_one(corpus: CorpusStore) -> None:
    await _store(corpus, "c", _document("a.md", "Old lamp."))
    broken = replace(_document("a.md", "New lamp."), passages=[("", 3, 3)])

    with pytest.raises(Exception, match="ck_passages_range"):
        await _store(corpus, "c", broken)

    assert await _found(corpus, "lamp") == ["Old lamp."]


async def test_what_is_not_kept_is_removed_with_its_passages(corpus: CorpusStore) -> None:
    await _store(corpus, "c", *[_document(f"{n}.md", "Lamp.") for n in range(5)])
    await _store(corpus, "d", _document("0.md", "Lamp."))

    async with corpus.writing("c") as writer:
        removed = await writer.keep_only(["1.md", "3.md", "never there.md"])

    assert removed == 3
    assert [d.address for d in await corpus.documents("c")] == ["1.md", "3.md"]
    assert len(await _found(corpus, "lamp")) == 2
    assert len(await corpus.documents("d")) == 1


async def test_a_collection_has_one_writer_and_others_wait(corpus: CorpusStore) -> None:
    order: list[str] = []

    async def second() -> None:
        async with corpus.writing("c"):
            order.append("second")

    async with corpus.writing("c"):
        waiting = asyncio.create_task(second())
        async with asyncio.timeout(10), corpus.writing("another") as another:
            await another.put(_document("a.md", "Lamp."))
            order.append("another")
        await asyncio.wait([waiting], timeout=0.2)
        order.append("first")
    await waiting

    assert order == ["another", "first", "second"]


async def test_a_writer_that_is_cancelled_or_fails_lets_the_next_one_in(
    corpus: CorpusStore,
) -> None:
    async def cancelled() -> None:
        async with corpus.writing("c") as writer:
            while True:
                await writer.put(_document("a.md", *["Lamp."] * 50))

    for _ in range(5):
        task = asyncio.create_task(cancelled())
        await asyncio.wait([task], timeout=0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    with pytest.raises(ZeroDivisionError):
        async with corpus.writing("c"):
            raise ZeroDivisionError

    async with asyncio.timeout(10), corpus.writing("c") as writer:
        assert len(await writer.documents()) <= 1


async def test_the_server_shows_planners_two_safe_tools(corpus: CorpusStore) -> None:
    async with Client(corpus_server(corpus)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}

    assert set(tools) == {"search", "read"}
    for tool in tools.values():
        assert tool.description
        assert tool.output_schema
        assert tool.annotations
        assert tool.annotations.read_only_hint
        assert tool.annotations.idempotent_hint
        assert "collection" in tool.input_schema["required"]
        assert all(p.get("description") for p in tool.input_schema["properties"].values())


async def test_the_server_answers_with_passages(corpus: CorpusStore) -> None:
    await _store(corpus, "c", _document("a.md", "The lamp.", "The lens.", title="Log"))

    async with Client(corpus_server(corpus)) as client:
        found = await client.call_tool("search", {"query": "lens", "collection": "c"})
        none = await client.call_tool("search", {"query": "whale", "collection": "c"})
        whole = await client.call_tool("read", {"document": "a.md", "collection": "c"})

    assert found.structured_content
    (passage,) = found.structured_content["passages"]
    assert passage.pop("score") > 0
    assert (
        passage
        == ToolPassage(address="a.md", title="Log", text="The lens.", start=11, end=20).model_dump()
    )
    assert none.structured_content == {"passages": [], "note": "no passage has “whale”"}
    assert whole.structured_content
    assert [p["text"] for p in whole.structured_content["passages"]] == ["The lamp.", "The lens."]


async def test_the_server_says_what_was_wrong_with_a_call(corpus: CorpusStore) -> None:
    await _store(corpus, "c", _document("lens.md", "One."))

    async with Client(corpus_server(corpus)) as client:
        unknown = await client.call_tool("read", {"document": "lense.md", "collection": "c"})
        many = await client.call_tool("search", {"query": "x", "collection": "c", "limit": 1000})

    assert unknown.is_error
    assert "there is 'lens.md'" in unknown.content[0].text  # type: ignore[union-attr]
    assert many.is_error


@pytest.mark.long
async def test_the_server_runs_over_stdio(
    corpus: CorpusStore, database_url: str, tmp_path: Path
) -> None:
    await _store(corpus, "c", _document("a.md", "The lamp."))
    script = tmp_path / "server.py"
    script.write_text(_SERVER)
    environment = {**os.environ, "URL": database_url}
    command = StdioServerParameters(command=sys.executable, args=[str(script)], env=environment)

    async with Client(command, read_timeout_seconds=30) as client:
        found = await client.call_tool("search", {"query": "lamp", "collection": "c"})

    assert found.structured_content
    assert found.structured_content["passages"][0]["text"] == "The lamp."
