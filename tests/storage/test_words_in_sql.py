"""The words that SQL texts write out, against the closed sets that define them."""

import re
from pathlib import Path

import pytest
from sqlalchemy import CheckConstraint

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.storage.core.tables.all_tables import metadata
from holdfast.storage.ledger import call_statements, reservation_statements

_MIGRATIONS = Path(__file__).parents[2] / "migrations" / "versions"
_CALLS_ONLY = (call_statements.__name__, reservation_statements.__name__)


def test_the_migrations_allow_the_words_of_the_closed_sets() -> None:
    written = {}
    for path in [*sorted(_MIGRATIONS.rglob("*.sql")), *sorted(_MIGRATIONS.rglob("*.py"))]:
        constraints = r"constraint (\w+)\s+check \((\w+ in \([^)]+\))\)"
        written |= dict(re.findall(constraints, path.read_text("utf-8")))

    defined = {
        str(constraint.name): str(constraint.sqltext)
        for table in metadata.tables.values()
        for constraint in table.constraints
        if isinstance(constraint, CheckConstraint) and " in (" in str(constraint.sqltext)
    }

    assert written == defined


@pytest.mark.parametrize("module", _CALLS_ONLY)
def test_the_ledgers_statements_know_only_words_of_the_call_status(module: str) -> None:
    path = Path(__file__).parents[2] / f"{module.replace('.', '/')}.sql"
    compared = r"status (?:=|<>|in) (\([^)]+\)|'\w+')"
    texts = path.read_text("utf-8")

    def words(pattern: str) -> set[str]:
        found = re.findall(pattern, texts)
        return {word for each in found for word in re.findall(r"'(\w+)'", each)}

    assert {"started", "done", "refused"} <= words(rf"(?<!tasks\.){compared}") <= set(CallStatus)
    assert words(rf"tasks\.{compared}") <= set(TaskStatus)
