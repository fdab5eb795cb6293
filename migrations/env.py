"""How Alembic reaches the database: through the connection that `storage.migrate` holds."""

from alembic import context

from models.tables import metadata

connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit("run `python -m storage.migrate`: it takes the lock that migrations need")

context.configure(connection=connection, target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
