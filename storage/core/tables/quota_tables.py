"""Define the tables of quotas and of the calls that count towards them."""

from sqlalchemy import BigInteger, Column, Index, Numeric, Table, text

from holdfast.models.access.quotas import QuotaHolder
from holdfast.storage.core.tables.columns import (
    EMPTY,
    StorableText,
    time_column,
    word_constraint,
)
from holdfast.storage.core.tables.metadata import metadata

quotas = Table(
    "quotas",
    metadata,
    Column("kind", StorableText, primary_key=True),
    Column("subject", StorableText, primary_key=True, comment="an owner's name or a key's id"),
    Column("calls", BigInteger, comment="the most of a day; null: no limit"),
    Column("tokens", BigInteger),
    Column("cost", Numeric),
    Column("set_by", StorableText, nullable=False),
    time_column("set_at", is_now=True),
    word_constraint("kind", QuotaHolder),
)

quota_uses = Table(
    "quota_uses",
    metadata,
    Column("call_id", BigInteger, primary_key=True, autoincrement=False),
    Column("owner", StorableText, nullable=False),
    Column("key_id", StorableText, nullable=False, server_default=EMPTY),
    Column("tokens", BigInteger, nullable=False, comment="an estimate until the call has ended"),
    Column("cost", Numeric, nullable=False, server_default=text("0")),
    time_column("began_at", is_now=True),
    Index("ix_quota_uses_owner_began_at", "owner", "began_at"),
    Index("ix_quota_uses_key_id_began_at", "key_id", "began_at"),
)
"""Not bound to a job: a day's calls count whether or not their job still exists."""
