"""create the tables of quotas, and record the key that submitted a job"""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table jobs add column key_id text default '' not null;
        comment on column jobs.key_id is 'the API key that submitted the job, or empty';

        create table quotas (
            kind text not null,
            subject text not null,
            calls bigint,
            tokens bigint,
            cost numeric,
            set_by text not null,
            set_at timestamptz default now() not null,
            constraint pk_quotas primary key (kind, subject),
            constraint ck_quotas_kind check (kind in ('owner', 'key'))
        );
        comment on column quotas.subject is 'an owner''s name or a key''s id';
        comment on column quotas.calls is 'the most of a day; null: no limit';

        create table quota_uses (
            call_id bigint not null,
            owner text not null,
            key_id text default '' not null,
            tokens bigint not null,
            cost numeric default 0 not null,
            began_at timestamptz default now() not null,
            constraint pk_quota_uses primary key (call_id)
        );
        create index ix_quota_uses_owner_began_at on quota_uses (owner, began_at);
        create index ix_quota_uses_key_id_began_at on quota_uses (key_id, began_at);
        comment on column quota_uses.tokens is 'an estimate until the call has ended';
    """)


def downgrade() -> None:
    op.execute("""
        drop table quota_uses;
        drop table quotas;
        alter table jobs drop column key_id;
    """)
