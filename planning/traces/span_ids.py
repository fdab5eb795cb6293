"""Compute the ids of traces and spans from what the ledger calls a job, a task and a call.

The ids depend on nothing else: not on the process that exports, not on the time, and not on row
numbers, which a restored database may give again. So a span that is sent twice is the same span.
"""

from hashlib import sha256

from holdfast.models.traces.trace_spans import TracedCall

_TRACE_DIGITS = 32
_SPAN_DIGITS = 16


def trace_id(job_id: str) -> str:
    """Return the id of the job's trace: 32 hexadecimal digits."""
    return _digest("trace", job_id)[:_TRACE_DIGITS]


def job_span_id(job_id: str, attempt: int) -> str:
    """Return the id of the span of the job up to its end number `attempt`: 16 digits."""
    return _digest("job", job_id, str(attempt))[:_SPAN_DIGITS]


def task_span_id(job_id: str, task_id: str, attempt: int) -> str:
    """Return the id of the span of an attempt at a task: 16 digits."""
    return _digest("task", job_id, task_id, str(attempt))[:_SPAN_DIGITS]


def call_span_id(job_id: str, call: TracedCall) -> str:
    """Return the id of the span of a call, from the key of the call in the ledger: 16 digits."""
    # As the ledger's own keys: a tool's name, or a model call's role, since a fallback model
    # answers in the place of the model that was asked.
    who = call.caller or call.target
    place = (call.kind.value, job_id, call.task_id, str(call.attempt), who, call.part)
    return _digest(*place, call.request_hash)[:_SPAN_DIGITS]


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()
