"""How a job is worked: strategies are settings of one engine, not engines."""

from datetime import timedelta
from enum import StrEnum

from pydantic import Field

from models.base import Frozen


class ReplanScope(StrEnum):
    """What a continuation replaces: the failed task's dependents, or all that remains."""

    DEPENDENTS = "dependents"
    REMAINING = "remaining"


class OnExhausted(StrEnum):
    """What happens when a task has used up its replans."""

    FAIL = "fail"
    CONTINUE = "continue"


class Strategy(Frozen):
    """All settings of the engine; a preset is a set of these, `--set key=value` changes one."""

    extraction: bool = True
    """Whether tool answers are reduced to entities by the extractor role."""
    confidence_threshold: float | None = Field(default=0.7, ge=0, le=1)
    """KPI: the least confidence of a required entity; none switches the check off."""
    replan_scope: ReplanScope = ReplanScope.DEPENDENTS
    on_exhausted: OnExhausted = OnExhausted.FAIL
    slots: int = Field(default=3, ge=1, le=100)
    """Tasks of one job that run at the same time (VMAO's k)."""
    max_replans_per_task: int = Field(default=3, ge=0, le=100)
    """Replans of a task and its successors together."""
    max_replans: int = Field(default=30, ge=0, le=1000)
    """Replans of the whole job."""
    max_tool_calls: int = Field(default=30, ge=1, le=10_000)
    plan_tries: int = Field(default=3, ge=0, le=10)
    """How often an invalid plan is sent back with its faults."""
    demonstrations: int = Field(default=0, ge=0, le=10)
    """Plans of earlier answered jobs that the planner sees as examples; 0 shows none, so that a
    job's plan does not hang on what else was asked."""
    plan_only: bool = False
    """Whether the job ends once it has its plan; resuming it has the plan worked."""
    chunk_tokens: int = Field(default=3000, ge=200, le=200_000)
    """A tool answer longer than this is extracted in chunks."""
    tool_timeout: timedelta = Field(default=timedelta(seconds=60), gt=timedelta(0))
    task_timeout: timedelta = Field(default=timedelta(minutes=10), gt=timedelta(0))
    """One attempt at a task, from start to end."""
    task_patience: timedelta = Field(default=timedelta(hours=2), gt=timedelta(0))
    """A task with all its retries, after which it counts as failed."""
    fallback_model: str | None = None
    """Asked in the job's model's place, at the same endpoint; none or empty: there is none."""
    fallback_after: timedelta = Field(default=timedelta(seconds=60), ge=timedelta(0))
    """How long the job's model may be busy with one call before the fallback is asked."""
    max_identical_calls: int | None = Field(default=2, ge=0, le=10_000)
    """How often a job asks a tool the same; the second is warned. None or 0: without end."""
