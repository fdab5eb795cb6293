"""Define the tables of model calls, of tool calls, and of figures that tools return."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Numeric,
    Table,
    UniqueConstraint,
    text,
)

from holdfast.models.calls.call_status import CallStatus
from holdfast.storage.core.tables.columns import (
    EMPTY,
    StorableText,
    job_column,
    time_column,
    word_constraint,
)
from holdfast.storage.core.tables.metadata import metadata


def _call_columns() -> list[Column[object]]:
    """Return the columns that model calls and tool calls share."""
    return [
        Column("id", BigInteger, Identity(), primary_key=True),
        job_column(),
        Column("task_id", StorableText, nullable=False, server_default=EMPTY),
        Column("attempt", Integer, nullable=False),
        Column(
            "part", StorableText, nullable=False, comment="which call of this task: 1, 2, chunk3/1"
        ),
        Column("request_hash", StorableText, nullable=False),
        Column("request", StorableText, nullable=False),
        Column("response", StorableText),
        Column("status", StorableText, nullable=False),
        Column("error", StorableText),
        Column(
            "sends",
            Integer,
            nullable=False,
            server_default="1",
            comment="times the request was sent",
        ),
        Column("reused", Integer, nullable=False, server_default="0"),
        time_column("started_at", is_now=True),
        time_column("finished_at"),
    ]


def _origin_column() -> Column[object]:
    """Return the column of the call that a fork took the answer from; null: it was sent."""
    comment = "the call of an origin of the fork whose answer was used"
    return Column("origin_call_id", BigInteger, comment=comment)


model_calls = Table(
    "model_calls",
    metadata,
    *_call_columns(),
    Column("role", StorableText, nullable=False),
    Column("model", StorableText, nullable=False),
    Column("finish", StorableText),
    Column("refusal", StorableText),
    Column("input_tokens", BigInteger, nullable=False, server_default="0"),
    Column("output_tokens", BigInteger, nullable=False, server_default="0"),
    Column("cached_tokens", BigInteger, nullable=False, server_default="0"),
    Column("reasoning_tokens", BigInteger, nullable=False, server_default="0"),
    Column("is_estimated", Boolean, nullable=False, server_default=text("false")),
    Column("cost", Numeric, comment="at the prices of that time; null: unknown"),
    Column(
        "reserved_tokens",
        BigInteger,
        nullable=False,
        server_default="0",
        comment="held by the budget during the call",
    ),
    Column("reserved_cost", Numeric),
    Column(
        "malformed_replies",
        Integer,
        nullable=False,
        server_default="0",
        comment="replies that were no chat completion",
    ),
    Column(
        "waits_until",
        DateTime(timezone=True),
        comment="of a call that was not sent: not before then, as its error says",
    ),
    Column(
        "sent_again_at",
        DateTime(timezone=True),
        comment="when the request was last sent again; null: it was sent once, at started_at",
    ),
    Column(
        "received_chars",
        Integer,
        nullable=False,
        server_default="0",
        comment="of a reply that is streamed: what has come of it, written every few seconds",
    ),
    Column(
        "response_id",
        StorableText,
        comment="the response that the endpoint makes in the background; null: none",
    ),
    _origin_column(),
    UniqueConstraint("job_id", "task_id", "attempt", "role", "part", "request_hash"),
    word_constraint("status", CallStatus),
    # The removal of a job looks for the comparisons of other jobs with it.
    Index(
        "model_calls_comparisons",
        "task_id",
        postgresql_where=text("role = 'claim_matcher'"),
    ),
)

tool_calls = Table(
    "tool_calls",
    metadata,
    *_call_columns(),
    Column("tool", StorableText, nullable=False),
    Column(
        "repeated_call_id", BigInteger, comment="the earlier identical call whose answer was used"
    ),
    Column("is_cut", Boolean, nullable=False, server_default=text("false")),
    _origin_column(),
    UniqueConstraint("job_id", "task_id", "attempt", "tool", "part", "request_hash"),
    Index("ix_tool_calls_job_id_request_hash", "job_id", "request_hash"),
    word_constraint("status", CallStatus),
)

figures = Table(
    "figures",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    job_column(),
    Column("call_id", BigInteger, ForeignKey("tool_calls.id", ondelete="CASCADE"), nullable=False),
    Column("sha256", StorableText, nullable=False, comment="SHA-256 of the bytes"),
    Column("media_type", StorableText, nullable=False),
    Column("title", StorableText, nullable=False),
    Column("caption", StorableText, nullable=False, server_default=EMPTY),
    Column("data", LargeBinary, nullable=False),
    time_column("created_at", is_now=True),
    UniqueConstraint("call_id", "sha256"),
    Index("ix_figures_job_id_sha256", "job_id", "sha256"),
)
