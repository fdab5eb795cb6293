"""corpus: document frequencies, vectors where pgvector is there, metadata."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_VECTORS = """
create table if not exists passage_vectors (
    passage_id bigint not null constraint pk_passage_vectors primary key
        constraint fk_passage_vectors_passage_id references passages (id) on delete cascade,
    collection text not null,
    model text not null,
    dimension integer not null,
    embedding vector not null);
-- In the row, not beside it: 10,000 vectors of 1,536 numbers are compared in 10 ms instead of 36.
alter table passage_vectors alter column embedding set storage main;
comment on column passage_vectors.collection is 'as in passages';
comment on column passage_vectors.model is 'only vectors of one model compare';
create index if not exists ix_passage_vectors_collection_model
    on passage_vectors (collection, model);
"""


def upgrade() -> None:
    op.add_column(
        "documents",
        sa.Column(
            "metadata",
            JSONB,
            nullable=False,
            server_default=sa.text("'{}'"),
            comment="what searches filter by: texts and lists of texts; {} before it was read",
        ),
    )
    op.add_column(
        "documents",
        sa.Column(
            "origin",
            sa.Text,
            nullable=False,
            server_default=sa.text("''"),
            comment="the folder it is from",
        ),
    )
    op.create_table(
        "collection_words",
        sa.Column("collection", sa.Text, nullable=False),
        sa.Column(
            "word", sa.Text, nullable=False, comment="a lexeme; '' stands for any passage at all"
        ),
        sa.Column("passages", sa.BigInteger, nullable=False, comment="how many hold it"),
        sa.PrimaryKeyConstraint("collection", "word", name="pk_collection_words"),
    )
    op.execute(
        "insert into collection_words select collection, word, count(*) from passages, "
        "unnest(tsvector_to_array(tsv) || array['']) as word group by collection, word"
    )
    _create_vectors()


def _create_vectors() -> None:
    """pgvector may be missing, or the role may not create extensions: keywords work without."""
    connection = op.get_bind()
    try:
        with connection.begin_nested():
            connection.execute(sa.text("create extension if not exists vector"))
            connection.execute(sa.text(_VECTORS))
    except sa.exc.DBAPIError as error:
        if error.connection_invalidated:
            raise


def downgrade() -> None:
    op.execute("drop table if exists passage_vectors")
    op.drop_table("collection_words")
    op.drop_column("documents", "origin")
    op.drop_column("documents", "metadata")
