"""Define the column type of text, and the columns and constraints that tables share."""

from enum import StrEnum

from sqlalchemy import (
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    TypeDecorator,
    func,
    text,
)
from sqlalchemy import Text as PlainText
from sqlalchemy.engine import Dialect

from holdfast.models.text.storable_text import storable_text


class StorableText(TypeDecorator[str]):
    """Text of any origin, with NUL and lone surrogates, which PostgreSQL refuses, replaced.

    An odd character of a model or page must not fail a write, which would repeat a paid call.
    """

    impl = PlainText
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's signature
        return None if value is None else storable_text(value)


EMPTY = text("''")


def time_column(name: str, *, is_now: bool = False) -> Column[object]:
    """Return a column of a point in time; `is_now`: required, by default the current time."""
    default = func.now() if is_now else None
    return Column(name, DateTime(timezone=True), nullable=not is_now, server_default=default)


def job_column(*, is_key: bool = False, is_indexed: bool = False) -> Column[object]:
    """Return the column of the job that the row belongs to; the job's deletion deletes the row."""
    job = ForeignKey("jobs.id", ondelete="CASCADE")
    index = True if is_indexed else None
    return Column("job_id", StorableText, job, primary_key=is_key, nullable=False, index=index)


def foreign_key_to_task(table: str) -> ForeignKeyConstraint:
    """Return the foreign key to the task of the row; the task's deletion deletes the row."""
    name = f"fk_{table}_task"
    columns, target = ["job_id", "task_id"], ["tasks.job_id", "tasks.id"]
    return ForeignKeyConstraint(columns, target, name=name, ondelete="CASCADE")


def word_constraint(column: str, words: type[StrEnum]) -> CheckConstraint:
    """Return the constraint that the column holds a word of the closed set, or null."""
    quoted = ", ".join(f"'{word.value}'" for word in words)
    return CheckConstraint(f"{column} in ({quoted})", name=column)
