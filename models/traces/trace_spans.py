"""Define the span of a trace, and the rows of the ledger from which a job's trace is made."""

from datetime import datetime
from enum import StrEnum

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.frozen_model import Frozen


class SpanKind(StrEnum):
    """What a span stands for."""

    JOB = "job"
    TASK = "task"
    MODEL_CALL = "model_call"
    TOOL_CALL = "tool_call"


class TraceSpan(Frozen):
    """One span; its ids are computed from the job, so every export gives it the same."""

    trace_id: str
    """32 hexadecimal digits."""
    span_id: str
    """16 hexadecimal digits."""
    parent_id: str = ""
    """The id of the span that this one is part of; empty: none."""
    kind: SpanKind
    name: str
    started_at: datetime
    finished_at: datetime
    attributes: dict[str, str | int | float | bool]
    error: str = ""
    """The kind of the error; empty: no error. Never a text of a model or a tool."""


class TracedTask(Frozen):
    """An attempt at a task, as a trace shows it."""

    task_id: str
    attempt: int
    kind: str
    agent: str
    parent: str
    """The agent task that the task is a step of, or empty."""
    status: str
    started_at: datetime | None
    finished_at: datetime | None


class TracedCall(Frozen):
    """A call of the ledger, without its request and its answer."""

    kind: SpanKind
    task_id: str
    attempt: int
    part: str
    request_hash: str
    caller: str
    """The role of a model call; empty for a tool call."""
    target: str
    """The model or the tool."""
    status: CallStatus
    sends: int
    reused: int
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    is_repeated: bool = False
    """True if an earlier identical call of the job answered it."""
    started_at: datetime
    finished_at: datetime | None


class TracedJob(Frozen):
    """A job with the tasks and calls of its trace."""

    job_id: str
    attempt: int
    preset: str
    model: str
    status: str
    stop_reason: str
    started_at: datetime | None
    finished_at: datetime | None
    tasks: tuple[TracedTask, ...]
    calls: tuple[TracedCall, ...]
