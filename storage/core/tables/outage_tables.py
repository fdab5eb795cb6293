"""Define the tables of outages: when all services were seen last, and when they were away."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Identity, Integer, Table, text

from holdfast.storage.core.tables.columns import time_column
from holdfast.storage.core.tables.metadata import metadata

service_presence = Table(
    "service_presence",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False, server_default=text("1")),
    time_column("seen_at", is_now=True),
    CheckConstraint("id = 1", name="id"),
)
"""One row: when a worker last saw PostgreSQL and Temporal."""

outages = Table(
    "outages",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    time_column("began_at", is_now=True),
    time_column("ended_at", is_now=True),
    CheckConstraint("ended_at > began_at", name="range"),
)
