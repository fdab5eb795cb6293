"""Tests for the language of a collection: how its words are compared, and how that changes."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from holdfast.models.corpus.search_language import SearchLanguage
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.collection_queries import collection_counts
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import CorpusStore

pytestmark = pytest.mark.slow

GERMAN = "Die Häuser am Fluß wurden für den Schützenverein gebaut."


@pytest.fixture
async def corpus(database_url: str) -> AsyncIterator[CorpusStore]:
    database = Database(database_url)
    yield CorpusStore(database)
    await database.close()


def _document(address: str, words: str) -> NewDocument:
    return NewDocument(address, "", words, address, len(words), [("", 0, len(words))])


async def _store(
    corpus: CorpusStore, address: str, words: str, language: SearchLanguage | None = None
) -> None:
    chosen = () if language is None else (language,)
    async with corpus.writing("c", *chosen) as writer:
        await writer.put(_document(address, words))


async def _found(corpus: CorpusStore, query: str) -> list[str]:
    return [hit.passage.address for hit in await corpus.search("c", query)]


async def _word_counts(corpus: CorpusStore) -> set[tuple[str, int]]:
    async with corpus.database.reading() as connection:
        counted = await connection.execute(text("select word, passages from collection_words"))
        return {(row.word, row.passages) for row in counted}


@pytest.mark.conformance("EVA-04")
@pytest.mark.parametrize(
    ("language", "written", "asked", "is_found"),
    [
        (SearchLanguage.GERMAN, GERMAN, "haus", True),
        (SearchLanguage.GERMAN, GERMAN, "HÄUSERN Fluss schutzenverein", True),
        (SearchLanguage.GERMAN, GERMAN, "die für den", False),
        (SearchLanguage.ENGLISH, GERMAN, "haus", False),
        (SearchLanguage.FINNISH, "Vartijat asuivat taloissa saarella.", "talossa", True),
        (SearchLanguage.ENGLISH, "Vartijat asuivat taloissa saarella.", "talossa", False),
        (SearchLanguage.RUSSIAN, "маяки на островах", "острова", True),
        (SearchLanguage.SIMPLE, "The lamps of Ærø ’n’ Łódź", "the lodz aero", True),
        (SearchLanguage.SIMPLE, "The lamps of Ærø", "lamp", False),
    ],
)
async def test_words_are_compared_in_the_language_of_the_collection(
    corpus: CorpusStore, language: SearchLanguage, written: str, asked: str, *, is_found: bool
) -> None:
    await _store(corpus, "a", written, language)

    found = await _found(corpus, asked)
    absent = await corpus.absent_words("c", asked)

    assert found == (["a"] if is_found else [])
    assert absent == () or not is_found


@pytest.mark.conformance("EVA-04")
async def test_another_language_reads_all_words_again_and_keeps_the_documents(
    corpus: CorpusStore,
) -> None:
    await _store(corpus, "a", GERMAN)
    await _store(corpus, "b", "Ein Haus.")
    before = await corpus.read("c", "a"), await corpus.documents("c")
    assert await _found(corpus, "Haus") == ["b"]

    async with corpus.writing("c") as writer:
        changed = [await writer.change_language(SearchLanguage.GERMAN) for _ in range(2)]

    assert changed == [True, False]
    assert sorted(await _found(corpus, "Haus")) == ["a", "b"]
    assert (await corpus.read("c", "a"), await corpus.documents("c")) == before
    counted = await _word_counts(corpus)
    assert {("", 2), ("haus", 2)} <= counted
    assert "die" not in {word for word, _ in counted}
    assert [line.language for line in await collection_counts(corpus.database)] == ["german"]


async def test_new_documents_get_the_language_that_the_collection_has(corpus: CorpusStore) -> None:
    await _store(corpus, "a", GERMAN, SearchLanguage.GERMAN)
    await _store(corpus, "b", "Zwei Häuser.", SearchLanguage.FRENCH)
    await _store(corpus, "a", "Drei Häuser.")

    assert sorted(await _found(corpus, "Haus")) == ["a", "b"]


async def test_postgresql_has_every_language(corpus: CorpusStore) -> None:
    words = "Ein 'quoted' \\ wörd ＇ ＼ ﬁn \u0301 ñandú it’s 4,5 a-b https://x.example/ß"
    for language in SearchLanguage:
        async with corpus.writing(language.value, language) as writer:
            await writer.put(_document("a", words))

        (hit,) = await corpus.search(language.value, "wörd quoted")
        assert hit.passage.address == "a", language
