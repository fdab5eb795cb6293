"""create the table of erasures"""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table erasures (
            id text not null,
            kind text not null,
            subject text not null,
            erased_by text not null,
            begun_at timestamptz default now() not null,
            ended_at timestamptz,
            jobs jsonb default '[]' not null,
            rows jsonb default '{}' not null,
            workflow_runs jsonb default '[]' not null,
            upload_folders integer default 0 not null,
            shared_sources integer default 0 not null,
            dependent_jobs jsonb default '[]' not null,
            constraint pk_erasures primary key (id),
            constraint ck_erasures_kind check (kind in ('job', 'owner'))
        );
        comment on column erasures.subject is 'the job''s id or the owner''s name';
    """)


def downgrade() -> None:
    op.execute("drop table erasures;")
