"""Define the tables of questions to the user and of the user's guidance."""

from sqlalchemy import BigInteger, Column, Identity, Table, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.models.questions.user_questions import AnswerOrigin, QuestionKind, QuestionStatus
from holdfast.storage.core.tables.columns import (
    EMPTY,
    StorableText,
    job_column,
    time_column,
    word_constraint,
)
from holdfast.storage.core.tables.metadata import metadata

questions = Table(
    "questions",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    job_column(),
    Column(
        "key", StorableText, nullable=False, comment="identifies the question: it is asked once"
    ),
    Column("task_id", StorableText, nullable=False, server_default=EMPTY),
    Column("kind", StorableText, nullable=False),
    Column("text", StorableText, nullable=False),
    Column("choices", JSONB, nullable=False),
    Column("default_answer", StorableText),
    time_column("deadline"),
    Column("status", StorableText, nullable=False, server_default="open"),
    Column("answer", StorableText),
    Column("origin", StorableText),
    Column("answered_by", StorableText, nullable=False, server_default=EMPTY),
    Column("trail", JSONB, nullable=False, server_default=text("'[]'")),
    time_column("asked_at", is_now=True),
    time_column("answered_at"),
    UniqueConstraint("job_id", "key"),
    word_constraint("kind", QuestionKind),
    word_constraint("status", QuestionStatus),
    word_constraint("origin", AnswerOrigin),
)

guidance = Table(
    "guidance",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    job_column(is_indexed=True),
    Column("text", StorableText, nullable=False, comment="the user's words for the next planning"),
    Column("added_by", StorableText, nullable=False),
    time_column("created_at", is_now=True),
    time_column("accepted_at"),
)
