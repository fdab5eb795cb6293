"""Tests for `[corpus] language`: what new collections get, and what a command changes."""

from pathlib import Path

import pytest

from holdfast.configuration.configuration_check import check_configuration
from holdfast.corpus.corpus_update import add_documents, ingestion_lines
from holdfast.corpus.folder_ingestion import IngestOptions
from holdfast.models.corpus.search_language import SearchLanguage
from holdfast.models.errors import BadConfiguration
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_store import CorpusStore


def configured(tmp_path: Path, language: str) -> Settings:
    file = tmp_path / "holdfast.toml"
    file.write_text(f'[corpus]\nlanguage = "{language}"\n')
    return Settings(home=tmp_path / "home", config_file=file, local_embeddings=False)


@pytest.mark.conformance("EVA-04")
async def test_a_collection_keeps_its_language_until_a_command_names_another(
    database: Database, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("Die Häuser am Fluß.")

    async def add(language: str, chosen: SearchLanguage | None = None) -> tuple[str, int]:
        """What was said, and how many passages `Haus` finds afterwards."""
        options = IngestOptions(language=chosen)
        ingested, embedded = await add_documents(
            configured(tmp_path, language), database, docs, "c", options
        )
        found = await CorpusStore(database).search("c", "Haus")
        return "\n".join(ingestion_lines(ingested, embedded)), len(found)

    new, kept = await add("german"), await add("french")
    named, same = [await add("french", SearchLanguage.SIMPLE) for _ in range(2)]

    assert [count for _, count in (new, kept, named, same)] == [1, 1, 0, 0]
    assert "words: all were read again as simple" in named[0]
    assert "1 unchanged" in named[0]
    assert all("words" not in said for said, _ in (new, kept, same))


def test_a_language_that_there_is_not_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match=r"corpus\.language: .*'finnish'.*for example"):
        check_configuration(configured(tmp_path, "klingon"))
