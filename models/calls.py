"""A call to a model or a tool: the key it is known by, and how it looks from outside."""

from datetime import datetime

from models.base import Frozen


class CallKey(Frozen):
    """What makes a call the same call: never two rows with one key, never two payments for it."""

    job_id: str
    task_id: str = ""
    """Empty for calls of the whole job, such as planning; `replan:T2` for those about a task."""
    attempt: int = 1
    part: str = "1"
    """Which call within the task: `1`, `2` for corrections, `chunk3/1` for a chunk's first."""
    request_hash: str


class CallView(Frozen):
    """One row of `holdfast calls`; `kind` is model or tool, `role` is empty for tools."""

    kind: str
    role: str
    task: str
    name: str
    request_hash: str
    status: str
    started_at: datetime
    finished_at: datetime | None
    tokens: dict[str, int]
    reused: int
    """How often the recorded answer was used instead of calling again."""
    sends: int
    error: str | None = None
    is_cut: bool = False
    """Whether a tool's answer was longer than the limit and its end was dropped."""
