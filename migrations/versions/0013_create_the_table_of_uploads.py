"""create the table of documents that were uploaded to collections"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table document_uploads (
            id text not null,
            owner text not null,
            collection text not null,
            replaces_collection boolean not null,
            metadata jsonb not null,
            files integer not null,
            size_bytes bigint not null,
            status text not null,
            progress jsonb not null,
            result jsonb,
            message text default '' not null,
            created_at timestamptz default now() not null,
            finished_at timestamptz,
            constraint pk_document_uploads primary key (id),
            constraint ck_document_uploads_status
                check (status in ('waiting', 'reading', 'done', 'failed'))
        );
        create index ix_document_uploads_owner_created_at
            on document_uploads (owner, created_at);
    """)


def downgrade() -> None:
    op.execute("drop table document_uploads;")
