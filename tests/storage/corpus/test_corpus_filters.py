"""Tests for searches with metadata filters, and for the stored word counts."""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from sqlalchemy import text

from holdfast.models.corpus.search_criteria import DateRange, MetadataFilter
from holdfast.models.errors import BadInput
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.corpus.search_statements import MAX_POSTINGS

pytestmark = pytest.mark.slow


@pytest.fixture
async def corpus(database_url: str) -> AsyncIterator[CorpusStore]:
    database = Database(database_url)
    yield CorpusStore(database)
    await database.close()


def _document(address: str, *texts: str, **metadata: str | list[str]) -> NewDocument:
    starts = [sum(len(text) + 1 for text in texts[:n]) for n in range(len(texts))]
    passages = [("", s, s + len(text)) for s, text in zip(starts, texts, strict=True)]
    whole = " ".join(texts)
    return NewDocument(address, address, whole, "x", len(whole), passages, metadata=metadata)


async def _store(corpus: CorpusStore, *documents: NewDocument) -> None:
    async with corpus.writing("c") as writer:
        await writer.put(*documents)


async def _found(corpus: CorpusStore, where: MetadataFilter) -> list[str]:
    return [hit.passage.address for hit in await corpus.search("c", "lamp", where=where)]


@pytest.fixture
async def filled(corpus: CorpusStore) -> CorpusStore:
    await _store(
        corpus,
        _document("a", "The lamp.", kind="pdf", date="2020-06-30", tags=["oil", "glass"]),
        _document("b", "The lamp.", kind="docx", date="2021-01-01"),
        _document("c", "The lamp.", kind="pdf", date="2022", author="O'Brien \\ %"),
    )
    return corpus


SEARCHED: list[tuple[MetadataFilter, list[str]]] = [
    ({}, ["a", "b", "c"]),
    ({"kind": "pdf"}, ["a", "c"]),
    ({"KIND": ("docx", "md")}, ["b"]),
    ({"tags": "glass"}, ["a"]),
    ({"tags": ("none", "oil")}, ["a"]),
    ({"kind": "pdf", "author": "O'Brien \\ %"}, ["c"]),
    ({"kind": ()}, []),
    ({"date": DateRange(since="2020")}, ["a", "b", "c"]),
    ({"date": DateRange(since="2020-07", until="2021")}, ["b"]),
    ({"date": DateRange(until="2020-06")}, ["a"]),
    ({"date": DateRange(since="2020-06-30", until="2020-06-30")}, ["a"]),
    ({"date": DateRange(since="2022-05")}, []),
    ({"date": DateRange()}, ["a", "b", "c"]),
    ({"author": DateRange()}, ["c"]),
]


async def test_only_documents_that_say_so_are_searched(filled: CorpusStore) -> None:
    for where, addresses in SEARCHED:
        assert await _found(filled, where) == addresses, where


async def test_a_key_that_no_document_has_is_refused_with_those_there_are(
    filled: CorpusStore,
) -> None:
    with pytest.raises(
        BadInput, match="says 'penned by' of itself; filter by author, date, kind, tag"
    ):
        await _found(filled, {"penned by": "O'Brien"})


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(key=st.text(min_size=1, max_size=20), value=st.text(max_size=20))
async def test_no_filter_fails_but_with_its_reason(
    filled: CorpusStore, key: str, value: str
) -> None:
    where = TypeAdapter(MetadataFilter).validate_python({key: [value], "kind": "pdf"})

    with contextlib.suppress(BadInput):  # no document has such a key
        assert len(await filled.search("c", "lamp", where=where)) <= 2


async def test_a_filter_finds_what_a_thousand_better_passages_would_hide(
    corpus: CorpusStore,
) -> None:
    better = [
        _document(f"{n}", "The lamp and the lens of the light.", kind="md") for n in range(999)
    ]
    await _store(corpus, *better, _document("one", "A lens among other things.", kind="pdf"))

    hits = await corpus.search("c", "lamp lens light", where={"kind": "pdf"})

    assert [hit.passage.address for hit in hits] == ["one"]


async def _words(corpus: CorpusStore) -> dict[str, int]:
    async with corpus.database.reading() as connection:
        rows = await connection.execute(text("select word, passages from collection_words"))
        return {row.word: row.passages for row in rows}


async def test_how_many_passages_hold_a_word_stays_true(corpus: CorpusStore) -> None:
    await _store(corpus, _document("a", "oil lamp lamp", "lens"), _document("b", "lamp"))
    assert await _words(corpus) == {"": 3, "oil": 1, "lamp": 2, "len": 1, "b": 1}

    await _store(corpus, _document("a", "gas lamp"))
    assert await _words(corpus) == {"": 2, "gas": 1, "lamp": 2, "b": 1, "oil": 0, "len": 0}

    async with corpus.writing("c") as writer:
        assert await writer.remove("b") == 1
        assert await writer.remove("never there") == 0
    assert await _words(corpus) == {"": 1, "gas": 1, "lamp": 1}


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["put", "remove", "keep"]),
            st.lists(st.sampled_from("xyz"), max_size=3),
            st.lists(
                st.sampled_from(["oil", "lamp", "lens oil", "lamp lamp"]), min_size=1, max_size=3
            ),
        ),
        max_size=6,
    )
)
async def test_counts_follow_any_writes(
    corpus: CorpusStore, steps: list[tuple[str, list[str], list[str]]]
) -> None:
    async with corpus.writing("c") as writer:
        await writer.keep_only([])
        for step, addresses, texts in steps:
            match step:
                case "put":
                    await writer.put(*(_document(address, *texts) for address in addresses))
                case "remove":
                    for address in addresses:
                        await writer.remove(address)
                case _:
                    await writer.keep_only(addresses)

    held: Counter[str] = Counter()
    async with corpus.database.reading() as connection:
        rows = (await connection.execute(text("select tsvector_to_array(tsv) from passages"))).all()
    for (words,) in rows:
        held.update([*words, ""])
    assert {word: n for word, n in (await _words(corpus)).items() if n} == held


async def test_common_words_are_not_looked_up_where_rarer_ones_are(corpus: CorpusStore) -> None:
    common = [f"The light of the coast, year {n}." for n in range(MAX_POSTINGS // 2 + 10)]
    rare = "Quillhaven had a light."
    await _store(corpus, _document("a", *common, *common, rare), _document("b", "A coast."))

    (first, *_) = await corpus.search("c", "Was there a light on the coast at Quillhaven?")
    only_common = await corpus.search("c", "light of the coast")

    assert first.passage.text == rare
    assert len(only_common) == 6


ABSENT: list[tuple[str, tuple[str, ...]]] = [
    ("the lamps", ()),
    ("LAMP lamp Reef reef REEF", ("Reef",)),
    ("a lamp-oil and oil-lamp", ("oil",)),
    ("?! the of", ()),
    (
        "the 3.5 lamps at https://example.org/lamp",
        ("3.5", "example.org/lamp", "example.org", "/lamp"),
    ),
    ("<JSON_PATH>T1.x</JSON_PATH> \x00 'lamp' & | !", ("T1.x",)),
]


async def test_words_that_no_passage_has_are_found(filled: CorpusStore) -> None:
    for query, absent in ABSENT:
        assert await filled.absent_words("c", query) == absent, query


async def test_a_word_is_absent_again_when_its_document_is_gone(corpus: CorpusStore) -> None:
    await _store(corpus, _document("a", "The lamp."), _document("b", "The reef."))
    assert await corpus.absent_words("c", "lamp reef") == ()

    async with corpus.writing("c") as writer:
        await writer.remove("b")

    assert await corpus.absent_words("c", "lamp reef") == ("reef",)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=st.text(max_size=200))
async def test_any_text_is_looked_up(filled: CorpusStore, query: str) -> None:
    assert all(word in query for word in await filled.absent_words("c", query))


@pytest.mark.conformance("EVA-04")
@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Aschenbrödel", "Aschenbrodel"),
        ("Aschenbrodel", "Aschenbro\u0308del"),
        ("Łódź Straße", "lodz strasse"),
        ("the canals of Besançon", "besancon canals"),
        ("Bokmål and Ærø", "bokmal aero"),
        ("зелёный чай", "зелёный"),
    ],
)
async def test_a_word_is_found_with_and_without_accents(
    corpus: CorpusStore, written: str, asked: str
) -> None:
    await _store(corpus, _document("a", written), _document("b", "зеленый, and nothing else"))

    (hit,) = await corpus.search("c", asked)
    none = await corpus.absent_words("c", asked)

    assert hit.passage.text == written
    # A letter with its mark apart is two words to PostgreSQL, which names them as they are asked.
    assert none == () or "\u0308" in asked
