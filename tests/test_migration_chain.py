"""Tests that the migrations are one chain, which two changes at the same time easily break."""

from collections import Counter
from pathlib import Path

from holdfast.storage.core.schema_migration import newest_schema_version

VERSIONS = Path(__file__).parents[1] / "migrations/versions"


def test_each_number_belongs_to_one_migration_and_the_last_is_the_newest() -> None:
    numbers = Counter(file.name[:4] for file in VERSIONS.glob("[0-9]*.py"))

    assert [number for number, files in numbers.items() if files > 1] == []
    assert newest_schema_version() == max(numbers)
