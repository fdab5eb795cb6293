"""How a job is worked: strategies are settings of one engine, not engines."""

from datetime import timedelta
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from models.base import Frozen

GENERALIST = "generalist"
"""The agent with all tools."""


class ReplanScope(StrEnum):
    """What a continuation replaces: the failed task's dependents, or all that remains."""

    DEPENDENTS = "dependents"
    REMAINING = "remaining"


class OnExhausted(StrEnum):
    """What happens when a task has used up its replans."""

    FAIL = "fail"
    CONTINUE = "continue"


class Grain(StrEnum):
    """What a plan is made of: single calls and deductions, or sub-questions that agents resolve."""

    TASKS = "tasks"
    NODES = "nodes"


class Horizon(StrEnum):
    """How far a plan looks: to the end, or to the next calls from what was observed."""

    FULL = "full"
    STEP = "step"


class Monitoring(StrEnum):
    """When the rest of a plan is looked at again: after what contradicts it, or after each node."""

    LAZY = "lazy"
    EAGER = "eager"


class Supervision(StrEnum):
    """When the assessor judges an agent's work: never, at its end, or after each step."""

    NONE = "none"
    NODE = "node"
    STEP = "step"


class Strategy(Frozen):
    """All settings of the engine; a preset is a set of these, `--set key=value` changes one."""

    grain: Grain = Grain.TASKS
    horizon: Horizon = Horizon.FULL
    """`step`: the whole question is one node, worked call by call (a ReAct loop)."""
    monitoring: Monitoring = Monitoring.LAZY
    verify: bool = False
    """Whether results are scored, gaps filled and the stop conditions decide when it is enough."""
    node_horizon: Horizon = Horizon.FULL
    """How an agent plans its own steps."""
    supervise: Supervision = Supervision.NONE
    fixed_agents: tuple[str, ...] = ()
    """These agents, each after the other, instead of a plan; none: the planner plans."""
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
    max_steps: int = Field(default=200, ge=1, le=10_000)
    """Steps of all agents of a job together (TDP's 30, 50, 60)."""
    max_node_steps: int = Field(default=15, ge=1, le=60)
    """Steps of one agent; then it must conclude from what it has."""
    max_agent_calls: int = Field(default=50, ge=1, le=10_000)
    """Tool calls of one agent (VMAO)."""
    max_consecutive_calls: int = Field(default=10, ge=1, le=10_000)
    """Calls of one tool in a row by one agent (VMAO)."""
    agent_timeout: timedelta = Field(default=timedelta(minutes=10), gt=timedelta(0))
    """The work of one agent, waiting for people not counted (VMAO's 600 s)."""
    max_revisions: int = Field(default=10, ge=0, le=1000)
    """How often the rest of the plan is revised because of what was found."""
    max_iterations: int = Field(default=3, ge=1, le=100)
    """Verifications of a job, with the work between them (VMAO)."""
    ready_threshold: float = Field(default=0.8, ge=0, le=1)
    """Stop when this share of the sub-questions is complete (VMAO)."""
    high_confidence: float = Field(default=0.75, ge=0, le=1)
    """Stop at this mean confidence, once `high_confidence_share` is complete (VMAO)."""
    high_confidence_share: float = Field(default=0.5, ge=0, le=1)
    diminishing_returns: float = Field(default=0.05, ge=0, le=1)
    """Stop when a round made less of the sub-questions complete than this (VMAO)."""
    token_budget: int = Field(default=1_000_000, ge=1)
    """Stop verifying and go on to the report once this many tokens are spent (VMAO)."""
    verifier_model: str | None = None
    """Verifies in the job's model's place, at the same endpoint."""
    check_sentences: bool = True
    """Whether a model checks each sentence of the report; without it rules alone do."""
    max_tokens: int | None = Field(default=None, ge=1)
    """The cap: no call is made that would pass it; the job pauses and asks."""
    max_cost: float | None = Field(default=None, gt=0)
    """The cap in the currency of the prices in `holdfast.toml`."""
    report_reserve: float = Field(default=0.15, ge=0, lt=1)
    """The share of a cap that is kept for the report, so that one always comes out."""
    review: bool = False
    """Whether the plan waits for somebody's approval before it runs."""
    questions: bool = True
    """Whether agents and the verifier may ask the user."""
    question_deadline: timedelta = Field(default=timedelta(minutes=30), gt=timedelta(0))
    """After which a question is answered by its default."""
    max_routings: int = Field(default=2, ge=0, le=10)
    """To how many other tasks a question goes before the user is asked."""
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
    robust_tools: bool = True
    """Whether an argument that a tool does not know is matched to the nearest that it does."""
    max_identical_calls: int | None = Field(default=2, ge=0, le=10_000)
    """How often a job asks a tool the same; the second is warned. None or 0: without end."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.horizon is Horizon.STEP and self.grain is Grain.NODES:
            raise ValueError("horizon=step works the question call by call; it needs grain=tasks")
        return self

    @property
    def is_capped(self) -> bool:
        """Whether there is an amount that the job must not pass."""
        return self.max_tokens is not None or self.max_cost is not None

    @property
    def has_fixed_plan(self) -> bool:
        """Whether no planner is asked, and so no replanner either."""
        return bool(self.agents)

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of a plan that is not planned."""
        return (GENERALIST,) if self.horizon is Horizon.STEP else self.fixed_agents
