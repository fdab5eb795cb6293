"""Tests for corpus searches through the hub by words, by meaning and by both, with real endpoints."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import create_engine, text

from holdfast.corpus.passage_embedding import embed_collection
from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.corpus.embeddings_config import EmbeddingsConfig
from holdfast.models.errors import ToolBusy, ToolFailed
from holdfast.roles.endpoints.embedding_endpoint import Embedder, create_embedder
from holdfast.storage.core.database import Database
from holdfast.storage.core.schema_migration import migrate_schema
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.corpus.corpus_server import corpus_server
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import BuiltinServer
from tests.support.endpoints.embeddings_endpoint import EmbeddingsRefusal, HashingEmbeddings

pytestmark = pytest.mark.slow

_TEXTS = {
    "lamp.md": "The lamp burned oil every night.",
    "lens.md": "The lens was ground by Brandreth.",
    "keeper.md": "Keepers were paid in gold.",
}


@pytest.fixture
def endpoint() -> Iterator[HashingEmbeddings]:
    with HashingEmbeddings() as endpoint:
        yield endpoint


@pytest.fixture
async def corpus(database_url: str) -> AsyncIterator[CorpusStore]:
    database = Database(database_url)
    await _store(CorpusStore(database))
    yield CorpusStore(database)
    await database.close()


async def _store(corpus: CorpusStore) -> None:
    async with corpus.writing("c") as writer:
        for address, said in _TEXTS.items():
            about = {"kind": "md", "about": address.removesuffix(".md")}
            passages = [("", 0, len(said))]
            document = NewDocument(address, address, said, "x", 1, passages, metadata=about)
            await writer.put(document)


Embedders = Callable[..., Embedder]


@pytest.fixture
async def embedders() -> AsyncIterator[Embedders]:
    """Makes models at an endpoint; two passages a call, if nothing else is said."""
    made: list[Embedder] = []

    def make(url: str, **settings: Any) -> Embedder:
        config = EmbeddingsConfig(**{"model": "hash", "url": url, "batch_size": 2} | settings)
        made.append(
            create_embedder(config, base_url="http://127.0.0.1:9/v1", key=SecretStr("a key"))
        )
        return made[-1]

    yield make
    for each in made:
        await each.aclose()


@asynccontextmanager
async def _hub(corpus: CorpusStore, embedder: Embedder | None) -> AsyncIterator[Hub]:
    server = BuiltinServer(corpus_server(corpus, embedder), {"collection": "collection"})
    async with Hub({}, {"corpus": server}) as hub:
        yield hub


async def _search(hub: Hub, query: str, **arguments: Any) -> ToolAnswer:
    return await hub.call(
        "corpus.search",
        {"query": query, **arguments},
        timeout=timedelta(seconds=20),
        facts={"collection": "c"},
    )


def _addresses(answer: ToolAnswer) -> list[str]:
    return [passage.address for passage in answer.passages]


async def test_a_search_goes_by_both_where_there_are_vectors(
    corpus: CorpusStore, endpoint: HashingEmbeddings, embedders: Embedders
) -> None:
    model = embedders(endpoint.url)
    done = await embed_collection(corpus.database, "c", model)

    async with _hub(corpus, model) as hub:
        both = await _search(hub, "lamps and keepers' gold")
        words = await _search(hub, "Brandreth", mode="keyword")
        meaning = await _search(hub, "burner lamp", mode="semantic", limit=2)
        chosen = await _search(hub, "lamp", filter={"about": ["keeper", "lens"]})

    assert (done.embedded, done.left, done.fault) == (3, 0, "")
    assert endpoint.keys == {"Bearer a key"}
    # All three have a vector, so by meaning each is found: by words only two of them are.
    assert sorted(_addresses(both)) == ["keeper.md", "lamp.md", "lens.md"]
    assert _addresses(both)[-1] == "lens.md"
    assert _addresses(words) == ["lens.md"]
    assert _addresses(meaning)[0] == "lamp.md"
    assert len(meaning.passages) == 2
    assert sorted(_addresses(chosen)) == ["keeper.md", "lens.md"]
    assert both.structured["note"] == words.structured["note"] == ""
    assert meaning.structured["note"] == ""
    assert both.passages[0].text in _TEXTS.values()


async def test_fusion_ranks_by_the_sum_of_reciprocal_places(
    corpus: CorpusStore, endpoint: HashingEmbeddings, embedders: Embedders
) -> None:
    model = embedders(endpoint.url)
    await embed_collection(corpus.database, "c", model)
    query = "gold lens"
    vector = await model.query(query)

    words = [hit.passage.address for hit in await corpus.search("c", query)]
    near = [hit.passage.address for hit in await corpus.nearest("c", vector)]
    fused = await corpus.fused("c", query, vector)

    for hit in fused:
        places = [
            each.index(hit.passage.address) for each in (words, near) if hit.passage.address in each
        ]
        assert hit.score == pytest.approx(sum(1 / (61 + place) for place in places))
    assert [hit.score for hit in fused] == sorted((hit.score for hit in fused), reverse=True)
    assert await corpus.fused("c", query, vector) == fused


async def test_a_query_that_means_nothing_finds_nothing(
    corpus: CorpusStore, endpoint: HashingEmbeddings, embedders: Embedders
) -> None:
    model = embedders(endpoint.url)
    await embed_collection(corpus.database, "c", model)

    async with _hub(corpus, model) as hub:
        meaning = await _search(hub, "?!", mode="semantic")
        both = await _search(hub, "?!", mode="hybrid")

    assert meaning.passages == both.passages == ()


async def test_without_vectors_words_do_and_meaning_says_what_is_missing(
    corpus: CorpusStore, endpoint: HashingEmbeddings, embedders: Embedders
) -> None:
    async with _hub(corpus, None) as hub:
        plain = await _search(hub, "lamp")
        wanted = await _search(hub, "lamp", mode="hybrid")
        with pytest.raises(ToolFailed, match=r"add a table \[embeddings\] to holdfast.toml"):
            await _search(hub, "lamp", mode="semantic")
    async with _hub(corpus, embedders(endpoint.url)) as hub:
        with pytest.raises(
            ToolFailed, match="has a vector of model 'hash' yet: workers make them while they"
        ):
            await _search(hub, "lamp", mode="semantic")

    assert (_addresses(plain), plain.structured["note"]) == (["lamp.md"], "")
    assert _addresses(wanted) == ["lamp.md"]
    assert "searched by words alone" in wanted.structured["note"]


@pytest.mark.parametrize(
    "refusal",
    [EmbeddingsRefusal(503), EmbeddingsRefusal(401), EmbeddingsRefusal(200, raw=b"<html>")],
)
async def test_an_endpoint_that_fails_costs_the_meaning_only(
    corpus: CorpusStore,
    endpoint: HashingEmbeddings,
    refusal: EmbeddingsRefusal,
    embedders: Embedders,
) -> None:
    model = embedders(endpoint.url)
    await embed_collection(corpus.database, "c", model)
    endpoint.push(refusal, refusal)

    async with _hub(corpus, model) as hub:
        fallen_back = await _search(hub, "lamp")
        # Only what passes may be sent again: a key that is refused stays refused.
        with pytest.raises(ToolBusy if refusal.status == 503 else ToolFailed):
            await _search(hub, "lamp", mode="semantic")

    assert _addresses(fallen_back) == ["lamp.md"]
    assert "searched by words alone: embedding model" in fallen_back.structured["note"] or (
        "did not answer with embeddings" in fallen_back.structured["note"]
    )
    assert "a key" not in fallen_back.text


async def test_an_endpoint_that_is_gone_is_told_as_passing(
    corpus: CorpusStore, endpoint: HashingEmbeddings, embedders: Embedders
) -> None:
    await embed_collection(corpus.database, "c", embedders(endpoint.url))

    async with _hub(corpus, embedders("http://127.0.0.1:9/v1")) as hub:
        with pytest.raises(ToolBusy, match="cannot be reached"):
            await _search(hub, "lamp", mode="semantic")


async def test_vectors_of_another_model_are_not_used_and_give_way(
    corpus: CorpusStore, endpoint: HashingEmbeddings, embedders: Embedders
) -> None:
    old, new = embedders(endpoint.url), embedders(endpoint.url, model="hash-2", batch_size=1)
    await embed_collection(corpus.database, "c", old)

    async with _hub(corpus, new) as hub:
        before = await _search(hub, "lamp")
        asked = [each["model"] for each in endpoint.asked]
        endpoint.push(None, EmbeddingsRefusal(401), EmbeddingsRefusal(401))
        cut_off = await embed_collection(corpus.database, "c", new)
        between = await _search(hub, "lamp", mode="semantic")
        of_old = await corpus.nearest("c", await old.query("lamp"))
        done = await embed_collection(corpus.database, "c", new)
        after = await _search(hub, "lamp", mode="semantic")

    assert "hash-2" not in asked
    assert (len(before.passages), cut_off.embedded, done.embedded) == (1, 1, 2)
    assert (len(between.passages), len(of_old), len(after.passages)) == (1, 2, 3)
    assert [(each.model, each.passages) for each in await corpus.vectors("c")] == [("hash-2", 3)]


async def test_what_was_embedded_stays_and_the_rest_is_resumed(
    corpus: CorpusStore, endpoint: HashingEmbeddings, embedders: Embedders
) -> None:
    model = embedders(endpoint.url, batch_size=1)
    endpoint.push(None, EmbeddingsRefusal(401, message="no such key"))

    first = await embed_collection(corpus.database, "c", model)
    again = await embed_collection(corpus.database, "c", model)

    assert (first.embedded, first.left) == (2, 1)
    assert "answered 401: no such key; check the key in `key_env` in [embeddings]" in first.fault
    assert (again.embedded, again.left, again.fault) == (1, 0, "")
    assert len(endpoint.embedded) == 3


async def test_a_busy_endpoint_is_asked_again_when_it_says(
    corpus: CorpusStore, endpoint: HashingEmbeddings, embedders: Embedders
) -> None:
    endpoint.push(
        EmbeddingsRefusal(429, {"retry-after": "0"}), EmbeddingsRefusal(503, {"retry-after": "0"})
    )
    model = embedders(endpoint.url, batch_size=64)
    assert (await embed_collection(corpus.database, "c", model)).fault == ""
    assert len(endpoint.asked) == 3

    endpoint.push(EmbeddingsRefusal(429, {"retry-after": "3600"}))
    gives_up = await embed_collection(
        corpus.database, "c", embedders(endpoint.url, model="other", batch_size=64)
    )

    assert (gives_up.embedded, gives_up.left) == (0, 3)
    assert "answered 429" in gives_up.fault


async def test_a_text_that_is_too_long_is_embedded_by_its_beginning(
    corpus: CorpusStore, endpoint: HashingEmbeddings, embedders: Embedders
) -> None:
    endpoint.longest = 400
    long = "The lantern room. " * 60
    async with corpus.writing("c") as writer:
        await writer.put(NewDocument("z.md", "z", long, "x", 1, [("", 0, len(long))]))

    done = await embed_collection(corpus.database, "c", embedders(endpoint.url))

    assert (done.embedded, done.left, done.fault) == (4, 0, "")
    assert len(endpoint.embedded) == 4
    assert 200 < max(map(len, endpoint.embedded)) <= 400


async def test_a_wrong_dimension_is_refused_and_a_wanted_one_embeds_again(
    corpus: CorpusStore, endpoint: HashingEmbeddings, embedders: Embedders
) -> None:
    model = embedders(endpoint.url)
    await embed_collection(corpus.database, "c", model)
    async with corpus.writing("c") as writer:
        await writer.put(NewDocument("z.md", "z", "New.", "x", 1, [("", 0, 4)]))
    endpoint.dimension = 32

    refused = await embed_collection(corpus.database, "c", model)
    asked_for = await embed_collection(corpus.database, "c", embedders(endpoint.url, dimension=16))
    async with _hub(corpus, model) as hub:
        with pytest.raises(ToolFailed, match=r"answered with 32 numbers, the vectors .* have 64"):
            await _search(hub, "lamp", mode="semantic")
    again = await embed_collection(corpus.database, "c", embedders(endpoint.url, dimension=32))

    assert (refused.embedded, refused.left) == (0, 1)
    assert (
        "32 numbers, and its vectors in this collection have 64: write `dimension`" in refused.fault
    )
    assert "of dimension [32], not 16" in asked_for.fault
    assert (again.embedded, again.left, again.fault) == (4, 0, "")


@pytest.fixture
def poor_url(postgres: str) -> Iterator[str]:
    """A database whose owner may create no extension, as on a server without pgvector."""
    engine = create_engine(postgres, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("create role poor login"))
        connection.execute(text("create database poor"))
    url = postgres.replace("/postgres?", "/poor?")
    owner = create_engine(url, isolation_level="AUTOCOMMIT")
    with owner.connect() as connection:
        connection.execute(text("grant all on schema public to poor"))
    owner.dispose()
    yield url.replace("://postgres:", "://poor:")
    with engine.connect() as connection:
        connection.execute(text("drop database poor with (force)"))
        connection.execute(text("drop role poor"))
    engine.dispose()


async def test_without_pgvector_keywords_work_and_vectors_can_come_later(
    poor_url: str, postgres: str, endpoint: HashingEmbeddings, embedders: Embedders
) -> None:
    migrate_schema(poor_url)
    database = Database(poor_url)
    corpus, model = CorpusStore(database), embedders(endpoint.url)
    await _store(corpus)

    poor = await embed_collection(database, "c", model)
    async with _hub(corpus, model) as hub:
        words = await _search(hub, "lamp")
        with pytest.raises(ToolFailed, match="says so if PostgreSQL lacks pgvector"):
            await _search(hub, "lamp", mode="semantic")
    superuser = create_engine(postgres.replace("/postgres?", "/poor?"))
    with superuser.begin() as connection:
        connection.execute(text("create extension vector"))
    superuser.dispose()
    rich = await embed_collection(database, "c", model)
    await database.close()

    assert poor.embedded == 0
    assert "semantic search needs pgvector" in poor.fault
    assert endpoint.asked[0]["model"] == "hash"
    assert _addresses(words) == ["lamp.md"]
    assert (rich.embedded, rich.left, rich.fault) == (3, 0, "")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"mode": "magic"}, "magic"),
        ({"filter": {"date": {"from": "soon"}}}, "soon|filter"),
        ({"filter": {"date": {"since when": "2020"}}}, "filter"),
        ({"filter": {"penned by": "x"}}, "says 'penned by' of itself; filter by about, kind"),
    ],
    ids=range(4),
)
async def test_a_search_that_cannot_be_is_refused_with_its_reason(
    corpus: CorpusStore, arguments: dict[str, Any], reason: str
) -> None:
    async with _hub(corpus, None) as hub:
        with pytest.raises(ToolFailed, match=reason):
            await _search(hub, "lamp", **arguments)


@pytest.mark.conformance("MOD-09")
async def test_a_search_tells_which_words_are_nowhere(
    corpus: CorpusStore, endpoint: HashingEmbeddings, embedders: Embedders
) -> None:
    model = embedders(endpoint.url)
    async with _hub(corpus, model) as hub:
        by_words = await _search(
            hub, "Did Zanzibar still pay the Keepers much zanzibar gold in 1904?"
        )
        long = await _search(hub, " ".join(f"x{n}{'y' * 60}" for n in range(20)))
        await embed_collection(corpus.database, "c", model)
        by_both = await _search(hub, "lamp Zanzibar")
        by_meaning = await _search(hub, "lamp Zanzibar", mode="semantic")

    assert by_words.structured["note"] == "no passage has “Zanzibar”, “pay”, “1904”"
    assert len(long.structured["note"]) < 400
    assert long.structured["note"].endswith("”, ...")
    assert by_both.structured["note"] == "no passage has “Zanzibar”"
    assert by_meaning.structured["note"] == ""
