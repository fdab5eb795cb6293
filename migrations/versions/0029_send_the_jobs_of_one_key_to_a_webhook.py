"""send the jobs of one API key to a webhook, also after the key was rotated"""

from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_OUTBOX = """
    create or replace function store_webhook_deliveries() returns trigger language plpgsql as $$
    declare
        told text := case
            when new.kind = 'job.paused' then 'job.paused'
            when new.kind = 'question.asked' then 'job.asks'
            when new.facts ->> 'status' = 'done' then 'job.done'
            else 'job.failed'
        end;
    begin
        insert into webhook_deliveries (webhook_id, job_id, seq, event, data, created_at)
        select webhooks.id, new.job_id, new.seq, told, new.facts, new.at
        from webhooks join jobs on jobs.owner = webhooks.owner
        where jobs.id = new.job_id
            and (webhooks.job_id is null or webhooks.job_id = new.job_id)
            {condition}
            and webhooks.events ? told;
        return null;
    end $$;
"""


def upgrade() -> None:
    # An owner's request may store an event, and its role reads no key: the function reads them as
    # the user that made it. So it looks for tables in this schema first, and in that of temporary
    # tables, which every role can make, last.
    op.execute("""
        alter table webhooks add column key_id text;
        comment on column webhooks.key_id is
            'null: every job of the owner; else those of this key and of keys that replaced it';
        create function replaces_key(newer text, older text) returns boolean
            language sql stable security definer as $$
            with recursive line as (
                select newer as id
                union
                select api_keys.replaces from line join api_keys on api_keys.id = line.id
            )
            select exists (select from line where id = older);
        $$;
        do $$ begin
            execute format(
                'alter function replaces_key(text, text) set search_path = %I, pg_temp',
                current_schema()
            );
        end $$;
    """)
    op.execute(
        _OUTBOX.format(
            condition="and (webhooks.key_id is null or replaces_key(jobs.key_id, webhooks.key_id))"
        )
    )


def downgrade() -> None:
    # A webhook of one key would be told of every job of its owner.
    op.execute("delete from webhooks where key_id is not null")
    op.execute(_OUTBOX.format(condition=""))
    op.execute("""
        drop function replaces_key(text, text);
        alter table webhooks drop column key_id;
    """)
