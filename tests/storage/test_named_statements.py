"""Tests of the `.sql` files of storage: every statement is described, loaded and used."""

import re
from pathlib import Path

import pytest

from holdfast.storage.core.named_statements import load_statements

STORAGE = Path(__file__).parents[2] / "storage"
FILES = sorted(STORAGE.rglob("*.sql"))


def test_there_are_statement_files() -> None:
    assert {file.stem for file in FILES} >= {"call_statements", "task_transactions"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_module_next_to_a_file_uses_each_of_its_statements(file: Path) -> None:
    used = re.findall(r'_STATEMENTS\["(\w+)"\]', file.with_suffix(".py").read_text("utf-8"))
    named = re.findall(r"^-- name: (.*)$", file.read_text("utf-8"), re.MULTILINE)

    statements = load_statements(str(file))

    assert sorted(used) == sorted(named) == sorted(statements)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_statement_has_a_description_that_is_not_sent(file: Path) -> None:
    described = re.findall(r"^-- name: (\w+)\n-- [A-Z]", file.read_text("utf-8"), re.MULTILINE)

    statements = load_statements(str(file))

    assert sorted(described) == sorted(statements)
    assert [name for name, text in statements.items() if not text.strip() or "--" in text] == []
