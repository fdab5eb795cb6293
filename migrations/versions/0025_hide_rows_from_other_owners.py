"""enable row-level security on every table, and let owners see only their own rows"""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

# No policy names a role: a dump would only restore where that role is. The subqueries run once a
# statement, not once a row.
_IS_SERVICE = "(select not starts_with(current_user::text, 'holdfast_owner_'))"
_ME = "(select nullif(current_setting('holdfast.owner', true), ''))"


def _job_is_mine(column: str) -> str:
    return f"exists (select from jobs where jobs.id = {column} and jobs.owner = {_ME})"


def _read(table: str) -> str:
    """Return the condition that a job of the owner quotes the source, or read it."""
    of_job = (
        f"join jobs on jobs.id = read.job_id where read.source_id = sources.id and owner = {_ME}"
    )
    return f"exists (select from {table} as read {of_job})"


_OF_JOB = (
    "attempt_results",
    "entities",
    "events",
    "evidence",
    "figures",
    "guidance",
    "loop_messages",
    "loop_passages",
    "loop_results",
    "model_calls",
    "plan_changes",
    "questions",
    "receipts",
    "recovered_calls",
    "recoveries",
    "reports",
    "responses",
    "sent_spans",
    "sent_traces",
    "stop_log",
    "tasks",
    "tool_calls",
    "verifications",
    "worker_stalls",
)
_OF_COLLECTION = ("collection_words", "documents", "passage_vectors", "passages")
_OF_INSTALLATION = (
    "api_keys",
    "audit_entries",
    "erasures",
    "model_turns",
    "quota_uses",
    "quotas",
    "trace_exporter",
)
"""No request of an owner needs these, although some name owners."""
_OF_EVERYONE = ("model_pauses", "outages", "service_presence")
_MINE = {
    "jobs": f"owner = {_ME}",
    "document_uploads": f"owner = {_ME}",
    "schedules": f"owner = {_ME}",
    "schedule_runs": (
        "exists (select from schedules where schedules.id = schedule_runs.schedule_id"
        f" and schedules.owner = {_ME})"
        f" and (job_id is null or {_job_is_mine('schedule_runs.job_id')})"
    ),
    "webhooks": f"owner = {_ME} and (job_id is null or {_job_is_mine('webhooks.job_id')})",
    "webhook_deliveries": (
        "exists (select from webhooks where webhooks.id = webhook_deliveries.webhook_id"
        f" and webhooks.owner = {_ME})"
    ),
    "sources": f"{_read('evidence')} or {_read('loop_passages')}",
    "source_checks": (
        "exists (select from evidence join jobs on jobs.id = evidence.job_id"
        f" where evidence.id = source_checks.evidence_id and jobs.owner = {_ME})"
    ),
    **{table: _job_is_mine(f"{table}.job_id") for table in _OF_JOB},
    **dict.fromkeys(_OF_COLLECTION, f"starts_with(collection, {_ME} || '/')"),
    **dict.fromkeys(_OF_INSTALLATION, "false"),
    **dict.fromkeys(_OF_EVERYONE, "false"),
}
_READABLE = {
    **dict.fromkeys(_OF_COLLECTION, "starts_with(collection, 'shared/')"),
    **dict.fromkeys(_OF_EVERYONE, "true"),
}
"""Rows that an owner reads, but does not change."""


def upgrade() -> None:
    # Each table in a transaction of its own, which holds no other lock that workers could wait for:
    # one transaction over all tables deadlocks with a worker that uses two of them. Interrupted, it
    # is repeated from the beginning.
    with op.get_context().autocommit_block():
        for table, condition in _MINE.items():
            readable = (
                f"create policy readable_rows on {table} for select using ({_READABLE[table]});"
                if table in _READABLE
                else ""
            )
            _if_exists(
                table,
                f"{_drop_policies(table)}"
                f"create policy own_rows on {table} using ({_IS_SERVICE} or {condition});"
                f"{readable} alter table {table} enable row level security;",
            )


def downgrade() -> None:
    with op.get_context().autocommit_block():
        for table in _MINE:
            _if_exists(
                table, f"alter table {table} disable row level security; {_drop_policies(table)}"
            )
    # The role has only what was granted in this database, and in one that a dump was restored into.
    op.execute("""
        do $$ declare
            owner_role text := 'holdfast_owner_'
                || (select oid from pg_database where datname = current_database());
        begin
            if exists (select from pg_roles where rolname = owner_role) then
                execute format('drop owned by %I', owner_role);
                begin
                    execute format('drop role %I', owner_role);
                exception when dependent_objects_still_exist then
                    raise notice 'the role % stays: it has rights in another database', owner_role;
                end;
            end if;
        exception when insufficient_privilege then
            raise notice 'the role % stays: this user may not drop it', owner_role;
        end $$;
    """)


def _drop_policies(table: str) -> str:
    names = ("own_rows", "readable_rows")
    return "".join(f"drop policy if exists {name} on {table};" for name in names)


def _if_exists(table: str, statements: str) -> None:
    """Run the statements in one transaction; the table of vectors needs pgvector."""
    op.execute(f"""
        do $do$ begin
            if to_regclass('{table}') is not null then {statements} end if;
        end $do$
    """)
