"""Define the tables of document collections: documents, passages, words and vectors."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Computed,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.types import UserDefinedType

from holdfast.storage.core.tables.columns import EMPTY, StorableText, time_column
from holdfast.storage.core.tables.metadata import metadata

documents = Table(
    "documents",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("collection", StorableText, nullable=False),
    Column("address", StorableText, nullable=False, comment="path below the collection's folder"),
    Column("title", StorableText, nullable=False),
    Column("text", StorableText, nullable=False),
    Column("sha256", StorableText, nullable=False, comment="SHA-256 of the file's bytes"),
    Column("size_bytes", BigInteger, nullable=False),
    time_column("added_at", is_now=True),
    Column(
        "metadata",
        JSONB,
        nullable=False,
        server_default=text("'{}'"),
        comment="fields that searches filter by: texts and lists of texts",
    ),
    Column(
        "origin",
        StorableText,
        nullable=False,
        server_default=EMPTY,
        comment="the folder that the document comes from",
    ),
    UniqueConstraint("collection", "address"),
)

passages = Table(
    "passages",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column(
        "document_id",
        BigInteger,
        ForeignKey("documents.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column(
        "collection",
        StorableText,
        nullable=False,
        comment="copied from documents: a search scans one table",
    ),
    Column("position", Integer, nullable=False),
    Column("heading", StorableText, nullable=False, server_default=EMPTY),
    Column("start_char", Integer, nullable=False),
    Column("end_char", Integer, nullable=False),
    Column("text", StorableText, nullable=False),
    Column(
        "context", StorableText, nullable=False, comment="title and heading, searched with the text"
    ),
    Column(
        "language",
        StorableText,
        nullable=False,
        server_default=text("'english'"),
        comment="of the words; the same in the whole collection",
    ),
    Column(
        "tsv",
        TSVECTOR,
        Computed("passage_words(language, context || ' ' || text)", persisted=True),
    ),
    Index("ix_passages_tsv", "tsv", postgresql_using="gin"),
    Index("ix_passages_collection", "collection"),
    CheckConstraint("end_char > start_char", name="range"),
)

collection_words = Table(
    "collection_words",
    metadata,
    Column("collection", StorableText, primary_key=True),
    Column("word", StorableText, primary_key=True, comment="a lexeme; '' counts all passages"),
    Column("passages", BigInteger, nullable=False, comment="number of passages that contain it"),
)


class VectorType(UserDefinedType[str]):
    """pgvector's type, of any dimension; written and read as text: `[0.1,0.2]`."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        return "vector"


# SQLAlchemy needs the type to read the schema of a database.
ischema_names["vector"] = VectorType


passage_vectors = Table(
    "passage_vectors",
    metadata,
    Column(
        "passage_id",
        BigInteger,
        ForeignKey("passages.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("collection", StorableText, nullable=False, comment="copied from passages"),
    Column(
        "model", StorableText, nullable=False, comment="only vectors of one model are comparable"
    ),
    Column("dimension", Integer, nullable=False),
    Column("embedding", VectorType, nullable=False),
    Index("ix_passage_vectors_collection_model", "collection", "model"),
)
"""Exists only if PostgreSQL has pgvector; see `storage.corpus.passage_vector_rows`."""
