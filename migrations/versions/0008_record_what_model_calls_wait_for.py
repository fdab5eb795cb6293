"""record what model calls wait for: pauses of models, and until when a call waits"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table model_pauses (
            model text not null,
            since timestamptz not null,
            until timestamptz not null,
            refusals integer not null,
            constraint pk_model_pauses primary key (model)
        );
        comment on column model_pauses.since is 'the first refusal since the last answer';
        comment on column model_pauses.refusals is 'pauses in a row, without an answer between';
        alter table model_calls add column waits_until timestamptz;
        comment on column model_calls.waits_until is
            'of a call that was not sent: not before then, as its error says';
    """)


def downgrade() -> None:
    op.execute("""
        alter table model_calls drop column waits_until;
        drop table model_pauses;
    """)
