"""Tests for vectors that workers compute on their own machine with the real sentence model."""

import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from holdfast.configuration.embedding_settings import create_local_embedder
from holdfast.corpus.passage_embedding import count_passages_for_workers
from holdfast.corpus.spare_time_embedding import SpareTimeEmbedding
from holdfast.models.corpus.search_mode import SearchMode
from holdfast.roles.sentence_model.local_embedder import LocalEmbedder, weights_folder
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.corpus.spare_time_vectors import embedding_claimed
from holdfast.tools.corpus.corpus_retrieval import CorpusRetrieval, RetrievalResult

pytestmark = [pytest.mark.conformance("EVA-04"), pytest.mark.slow]

_TEXTS = {
    "doctor.md": "A physician treated the sick of the island.",
    "boat.md": "Timber for the new vessel came from the north.",
    "bread.md": "The bakery sold loaves every morning.",
}


class _CutOff(Exception):
    """Stands for a worker that dies."""


class _OneGroup(LocalEmbedder):
    """Two passages a group; dies at the second group."""

    config = LocalEmbedder.config.model_copy(update={"batch_size": 2})
    groups = 0

    async def passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        self.groups += 1
        if self.groups == 2:
            raise _CutOff
        return await super().passages(texts)


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    async with CorpusStore(database).writing("c") as writer:
        for address, said in _TEXTS.items():
            await writer.put(NewDocument(address, address, said, "x", 1, [("", 0, len(said))]))
    yield database
    await database.close()


def _folder() -> Path:
    folder = weights_folder()
    assert folder is not None, "the tests' environment has the weights"
    return folder


@pytest.fixture
async def embedder() -> AsyncIterator[LocalEmbedder]:
    model = LocalEmbedder(_folder())
    yield model
    await model.aclose()


async def _find(db: Database, embedder: LocalEmbedder, mode: SearchMode | None) -> RetrievalResult:
    searched = CorpusRetrieval(CorpusStore(db), embedder)
    return await searched.find("c", "medical care", 1, mode=mode, where={})


async def test_a_search_goes_by_meaning_once_a_worker_has_embedded_every_passage(
    db: Database, embedder: LocalEmbedder
) -> None:
    before = await _find(db, embedder, None)
    waiting = await count_passages_for_workers(db, "c", embedder)
    cut_off = _OneGroup(_folder())
    with pytest.raises(_CutOff):
        await SpareTimeEmbedding(db, cut_off).embed_all()
    await cut_off.aclose()
    under_way = await _find(db, embedder, None)
    async with embedding_claimed(db, "c") as is_ours:
        by_another = await SpareTimeEmbedding(db, embedder).embed_all()
    rest = await SpareTimeEmbedding(db, embedder).embed_all()
    after = await _find(db, embedder, None)

    assert (waiting.embedded, waiting.left, waiting.in_background) == (0, 3, True)
    assert (before.mode, before.hits) == (SearchMode.KEYWORD, ())
    # Two passages have vectors, the third would never be found by meaning.
    assert (under_way.mode, under_way.note) == (SearchMode.KEYWORD, before.note)
    assert (is_ours, by_another, rest) == (True, 0, 1)
    assert after.mode is SearchMode.HYBRID
    assert [passage.address for passage, _ in after.hits] == ["doctor.md"]


@pytest.mark.long
async def test_the_vectors_are_those_of_the_model_in_any_company(embedder: LocalEmbedder) -> None:
    texts = ["A man is eating food.", "A man is eating a piece of bread.", "A" * 5000, "", "x y"]
    together = await embedder.passages(texts)
    alone = [(await embedder.query(text)).values for text in texts]

    for one, other in zip(together, alone, strict=True):
        assert sum(a * b for a, b in zip(one, other, strict=True)) == pytest.approx(1, abs=1e-5)
    # Of sentence-transformers' own documentation of this model.
    near = sum(a * b for a, b in zip(together[0], together[1], strict=True))
    assert near == pytest.approx(0.7553, abs=1e-3)


def test_the_libraries_are_loaded_with_the_first_text_and_can_be_turned_off() -> None:
    code = (
        "import sys; from holdfast.settings import Settings\n"
        "from holdfast.configuration.embedding_settings import create_local_embedder\n"
        "there = create_local_embedder(Settings(local_embeddings=True)) is not None\n"
        "print(there, {'numpy', 'tokenizers', 'safetensors'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["True", "set()"]
    assert create_local_embedder(Settings(local_embeddings=False)) is None
