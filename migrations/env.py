"""Run Alembic on the connection that `holdfast.storage.core.schema_migration` has locked."""

from alembic import context

from holdfast.storage.core.tables.all_tables import metadata

connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit(
        "run `python -m holdfast.storage.core.schema_migration`:"
        " it takes the lock that migrations need"
    )

# Each migration commits by itself: the locks of one are not held while another rewrites a table,
# where they would stop the workers, and could deadlock with them.
context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)
with context.begin_transaction():
    context.run_migrations()
