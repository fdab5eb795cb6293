"""create the tables: the statements are in `0001_tables/`, one file for each subject."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_STATEMENTS = Path(__file__).with_name("0001_tables")
_SUBJECTS = ("jobs", "plans", "verification", "questions", "ledger", "evidence", "corpus")
_TABLES = (
    "collection_words, passages, documents, source_checks, evidence, sources, recovered_calls,"
    " recoveries, figures, tool_calls, model_calls, questions, stop_log, verifications,"
    " attempt_results, entities, tasks, plan_changes, reports, guidance, receipts, events, jobs"
)


def upgrade() -> None:
    for subject in _SUBJECTS:
        _execute_file(subject)
    _create_vectors()


def _execute_file(name: str) -> None:
    statements = _STATEMENTS.joinpath(f"{name}.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(statements)


def _create_vectors() -> None:
    """pgvector may be missing, or the role may not create extensions: keywords work without."""
    connection = op.get_bind()
    try:
        with connection.begin_nested():
            connection.execute(sa.text("create extension if not exists vector"))
            _execute_file("passage_vectors")
    except sa.exc.DBAPIError as error:
        if error.connection_invalidated:
            raise


def downgrade() -> None:
    op.execute("drop table if exists passage_vectors")
    op.execute(f"drop table {_TABLES}")
    op.execute("drop function refuse_change")
