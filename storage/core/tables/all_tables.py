"""Import all table modules, so that the metadata is complete; migrations create these tables."""

from holdfast.storage.core.tables import (
    access_tables,
    call_tables,
    corpus_tables,
    erasure_tables,
    evidence_tables,
    job_tables,
    loop_tables,
    outage_tables,
    plan_tables,
    question_tables,
    recovery_tables,
    response_tables,
    trace_tables,
    turn_tables,
    upload_tables,
    verification_tables,
    webhook_tables,
)
from holdfast.storage.core.tables.metadata import metadata

__all__ = [
    "access_tables",
    "call_tables",
    "corpus_tables",
    "erasure_tables",
    "evidence_tables",
    "job_tables",
    "loop_tables",
    "metadata",
    "outage_tables",
    "plan_tables",
    "question_tables",
    "recovery_tables",
    "response_tables",
    "trace_tables",
    "turn_tables",
    "upload_tables",
    "verification_tables",
    "webhook_tables",
]
