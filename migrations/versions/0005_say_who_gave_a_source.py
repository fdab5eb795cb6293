"""say who gave a source, check sources again, name a job's servers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_EMPTY = sa.text("''")
_OLD = "uq_sources_sha256_address_start_char"
_NEW = "uq_sources_sha256_address_start_char_via"


def upgrade() -> None:
    for name, comment in (
        ("published", "ISO 8601, as told"),
        ("tool", "that gave it first"),
        ("via", "the user's own server"),
    ):
        op.add_column(
            "sources",
            sa.Column(name, sa.Text, nullable=False, server_default=_EMPTY, comment=comment),
        )
    op.drop_constraint(_OLD, "sources")
    op.create_unique_constraint(_NEW, "sources", ["sha256", "address", "start_char", "via"])
    op.create_table(
        "source_checks",
        sa.Column("id", sa.BigInteger, sa.Identity(), nullable=False),
        sa.Column("evidence_id", sa.BigInteger, nullable=False),
        sa.Column(
            "checked_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()
        ),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False, server_default=_EMPTY),
        sa.Column(
            "nearest",
            sa.Text,
            nullable=False,
            server_default=_EMPTY,
            comment="what stands there now",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_source_checks"),
        sa.ForeignKeyConstraint(
            ["evidence_id"],
            ["evidence.id"],
            name="fk_source_checks_evidence_id",
            ondelete="CASCADE",
        ),
        sa.CheckConstraint(
            "verdict in ('unchanged', 'moved', 'changed', 'gone', 'unreadable')",
            name="ck_source_checks_verdict",
        ),
    )
    op.create_index("ix_source_checks_evidence_id", "source_checks", ["evidence_id"])
    op.add_column(
        "jobs",
        sa.Column(
            "servers",
            JSONB,
            nullable=False,
            server_default=sa.text("'[]'"),
            comment="whose tools it may use; empty: all",
        ),
    )


def downgrade() -> None:
    op.drop_column("jobs", "servers")
    op.drop_table("source_checks")
    op.drop_constraint(_NEW, "sources")
    # What two servers gave in the same words may stand there twice, and the old key allows one:
    # what cites the later ones cites the first.
    op.execute("""
        update evidence set source_id = first.id from sources, lateral (
            select min(same.id) as id from sources as same
            where (same.sha256, same.address, same.start_char)
                = (sources.sha256, sources.address, sources.start_char)) as first
        where evidence.source_id = sources.id and first.id <> sources.id
    """)
    op.execute("""
        delete from sources where exists (select from sources as same
            where (same.sha256, same.address, same.start_char)
                = (sources.sha256, sources.address, sources.start_char) and same.id < sources.id)
    """)
    op.create_unique_constraint(_OLD, "sources", ["sha256", "address", "start_char"])
    for name in ("via", "tool", "published"):
        op.drop_column("sources", name)
