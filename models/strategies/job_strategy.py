"""Define the strategy of a job: all settings of the engine, validated together."""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Self

from pydantic import Field, field_validator, model_validator

from holdfast.models.frozen_model import Frozen
from holdfast.models.wire.role_names import RoleName

EXTRACTIVE_MODEL = "extractive"
"""The name of the built-in model."""

LEAST_TRANSCRIPT_TOKENS = 2_000
"""The smallest `transcript_tokens`: the first prompt and one search answer fit."""

GENERALIST = "generalist"
"""The agent with all tools."""

_JUDGES = frozenset({RoleName.VERIFIER, RoleName.SENTENCE_CHECKER, RoleName.ANSWER_JUDGE})
"""The roles that `verifier_model` plays."""


class ReplanScope(StrEnum):
    """The tasks that a continuation replaces: dependents of the failed task, or all unfinished."""

    DEPENDENTS = "dependents"
    REMAINING = "remaining"


class OnExhausted(StrEnum):
    """The effect when a task has no replans left."""

    FAIL = "fail"
    CONTINUE = "continue"


class Grain(StrEnum):
    """The tasks of a plan: tool and reasoning tasks, or agent tasks."""

    TASKS = "tasks"
    AGENTS = "agents"


class Horizon(StrEnum):
    """How far a plan reaches: to the end, or only to the next calls."""

    FULL = "full"
    STEP = "step"


class Monitoring(StrEnum):
    """When unfinished tasks are revised: after a contradiction, each result, or each batch."""

    LAZY = "lazy"
    EAGER = "eager"
    BATCH = "batch"


class Repair(StrEnum):
    """Who repairs the plan when an agent task fails."""

    REPLANNER = "replanner"
    REVISER = "reviser"


class Supervision(StrEnum):
    """When the assessor judges an agent: never, at its end, or after each step."""

    NONE = "none"
    AGENT = "agent"
    STEP = "step"


class AgentMethod(StrEnum):
    """How an agent works: in steps that roles plan, take and judge, or as one cited loop."""

    STEPS = "steps"
    LOOP = "loop"


class Beginning(StrEnum):
    """What a job begins with: the planner's plan, or one cited loop for the whole question."""

    PLAN = "plan"
    LOOP = "loop"


class Strategy(Frozen):
    """All settings of the engine; a preset is a set of these, `--set NAME=VALUE` changes one."""

    grain: Grain = Grain.TASKS
    horizon: Horizon = Horizon.FULL
    """`step`: the whole question is one agent task, resolved call by call (a ReAct loop)."""
    monitoring: Monitoring = Monitoring.LAZY
    """`batch`: tasks that were ready together end, the plan is revised, then others start."""
    repaired_by: Repair = Repair.REPLANNER
    """`reviser`: failed agent tasks are repaired by self-revision (TDP); the replanner repairs them
    only where the reviser found no valid revision, or has none left."""
    verify: bool = False
    """True: results are verified, gaps filled, and stop conditions decide the end."""
    agent_horizon: Horizon = Horizon.FULL
    """How an agent plans its steps."""
    supervise: Supervision = Supervision.NONE
    agent_method: AgentMethod = AgentMethod.STEPS
    """`loop`: an agent is one dialogue that searches and answers with verbatim quotes; `supervise`
    and `agent_horizon` are then without effect."""
    begins_with: Beginning = Beginning.PLAN
    """`loop`: a cited loop tries to answer first, and the planner plans only what it leaves open.
    Without `verify`, with fixed agents or with `plan_only` the job begins with its plan."""
    loop_confidence: float = Field(default=0.5, ge=0, le=1)
    """The least confidence of the answer of the loop that a job begins with; below it, a plan
    follows. An answer with a weak link has 0.55."""
    max_turns: int = Field(default=20, ge=1, le=200)
    """The maximum of turns of a loop; then the agent must answer."""
    max_loop_tokens: int | None = Field(default=None, ge=1)
    """The tokens that one loop may spend; then the agent must answer. None: no limit."""
    transcript_tokens: int = Field(default=24_000, ge=LEAST_TRANSCRIPT_TOKENS, le=1_000_000)
    """A loop's transcript longer than this is compacted: its sentences stay word for word."""
    fixed_agents: tuple[str, ...] = ()
    """A fixed sequence of agents instead of a plan; None: the planner plans."""
    extraction: bool = True
    """True: the extractor role reads entities out of tool answers."""
    extract_above: int | None = Field(default=None, ge=0)
    """With `extraction` off: passages of documents that have more characters than this together are
    reduced to entities all the same, so that no page becomes the next query. None: never."""
    confidence_threshold: float | None = Field(default=0.7, ge=0, le=1)
    """The minimum confidence of a required entity; None switches the check off."""
    replan_scope: ReplanScope = ReplanScope.DEPENDENTS
    on_exhausted: OnExhausted = OnExhausted.FAIL
    slots: int = Field(default=3, ge=1, le=100)
    """The number of tasks of a job that run at the same time (VMAO's k)."""
    max_replans_per_task: int = Field(default=3, ge=0, le=100)
    """The maximum of replans of a task and its continuations together."""
    max_replans: int = Field(default=30, ge=0, le=1000)
    """The maximum of replans of the whole job."""
    max_tool_calls: int = Field(default=30, ge=1, le=10_000)
    max_steps: int = Field(default=200, ge=1, le=10_000)
    """The maximum of steps of all agents of a job (TDP's 30, 50, 60)."""
    max_agent_steps: int = Field(default=15, ge=1, le=60)
    """The maximum of steps of one agent; then the agent must conclude."""
    max_agent_calls: int = Field(default=50, ge=1, le=10_000)
    """The maximum of tool calls of one agent (VMAO)."""
    max_consecutive_calls: int = Field(default=10, ge=1, le=10_000)
    """The maximum of consecutive calls of one tool by one agent (VMAO)."""
    agent_timeout: timedelta = Field(default=timedelta(minutes=10), gt=timedelta(0))
    """The maximum time of one agent, without waiting for people (VMAO's 600 s)."""
    max_revisions: int = Field(default=10, ge=0, le=1000)
    """The maximum of self-revisions of a plan."""
    max_rounds: int = Field(default=3, ge=1, le=100)
    """The maximum of verification rounds (VMAO)."""
    ready_threshold: float = Field(default=0.8, ge=0, le=1)
    """Stop when this share of the results is complete (VMAO)."""
    high_confidence: float = Field(default=0.75, ge=0, le=1)
    """Stop at this mean reliability, once `high_confidence_share` is complete (VMAO)."""
    high_confidence_share: float = Field(default=0.5, ge=0, le=1)
    diminishing_returns: float = Field(default=0.05, ge=0, le=1)
    """Stop when a round improved the mean completeness by less than this (VMAO)."""
    token_budget: int = Field(default=1_000_000, ge=1)
    """Stop verifying and go on to the report once this many tokens are spent (VMAO)."""
    role_models: Mapping[RoleName, str] = Field(default_factory=dict)
    """The models of single roles, instead of the job's model; also written `planner=big,...`."""
    verifier_model: str | None = None
    """The model that verifies and judges, instead of the job's model; wins over `role_models`."""
    check_sentences: bool = True
    """True: a model checks each sentence of the report; False: only rules do."""
    max_tokens: int | None = Field(default=None, ge=1)
    """The cap in tokens: the job pauses and asks before a call would exceed it."""
    max_cost: float | None = Field(default=None, gt=0)
    """The cap in the currency of the prices in `holdfast.toml`."""
    report_reserve: float = Field(default=0.15, ge=0, lt=1)
    """The share of a cap that is kept for the report."""
    review: bool = False
    """True: the plan waits for a person's approval before it runs."""
    questions: bool = True
    """True: agents and the verifier may ask the user."""
    question_deadline: timedelta = Field(default=timedelta(minutes=30), gt=timedelta(0))
    """The time after which a question is answered by its default."""
    max_routings: int = Field(default=2, ge=0, le=10)
    """The number of other tasks that a question goes to before the user."""
    plan_tries: int = Field(default=3, ge=0, le=10)
    """The number of times an invalid plan is sent back with its faults."""
    demonstrations: int = Field(default=0, ge=0, le=10)
    """Plans of earlier answered jobs that the planner sees as examples; 0 shows none, so that a
    job's plan does not hang on what else was asked."""
    plan_only: bool = False
    """True: the job ends once it has its plan; resuming the job runs the plan."""
    chunk_tokens: int = Field(default=3000, ge=200, le=200_000)
    """A tool answer longer than this is extracted in chunks."""
    tool_timeout: timedelta = Field(default=timedelta(seconds=60), gt=timedelta(0))
    task_timeout: timedelta = Field(default=timedelta(minutes=10), gt=timedelta(0))
    """The maximum time of one attempt at a task."""
    task_patience: timedelta = Field(default=timedelta(hours=2), gt=timedelta(0))
    """The maximum time of a task with all retries of its activity."""
    fallback_model: str | None = None
    """The fallback model, at the same or at another endpoint; None or empty: no fallback."""
    fallback_after: timedelta = Field(default=timedelta(seconds=60), ge=timedelta(0))
    """The time that the job's model may be busy before the fallback is called."""
    robust_tools: bool = True
    """True: an unknown argument of a tool is matched to the nearest known value."""
    max_identical_calls: int | None = Field(default=2, ge=0, le=10_000)
    """The maximum of identical tool calls in a job; the second gets a warning. 0: no limit."""
    primary_sources: tuple[str, ...] = Field(default=(), max_length=100)
    """Patterns of the addresses of primary sources, such as `contracts/*`."""

    @field_validator("primary_sources", mode="before")
    @classmethod
    def _patterns(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(each.strip() for each in value.split(",") if each.strip())

    @field_validator("role_models", mode="before")
    @classmethod
    def _pairs(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        pairs = [pair.partition("=") for pair in value.split(",") if pair.strip()]
        if odd := [role for role, _, model in pairs if not role.strip() or not model.strip()]:
            raise ValueError(f"write role=model, with commas between them; {odd[0]!r} is not that")
        return {role.strip(): model.strip() for role, _, model in pairs}

    @field_validator("role_models")
    @classmethod
    def _are_names(cls, models: Mapping[RoleName, str]) -> Mapping[RoleName, str]:
        for role, model in models.items():
            if not model or any(sign.isspace() for sign in model):
                raise ValueError(f"{model!r} for the role {role.value} is not the name of a model")
        return models

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.horizon is Horizon.STEP and self.grain is Grain.AGENTS:
            raise ValueError("horizon=step researches call by call; it needs grain=tasks")
        return self

    def model_of_role(self, role: str, usual: str) -> str:
        """Return the model that plays the role in a job whose model is `usual`."""
        if self.verifier_model and role in _JUDGES:
            return self.verifier_model
        return next((model for own, model in self.role_models.items() if own == role), usual)

    def named_models(self) -> frozenset[str]:
        """Return all models that the settings name."""
        names = (self.verifier_model, self.fallback_model, *self.role_models.values())
        return frozenset(name for name in names if name)

    @property
    def is_capped(self) -> bool:
        """True if the job has a cap on tokens or money."""
        return self.max_tokens is not None or self.max_cost is not None

    @property
    def opens_with_loop(self) -> bool:
        """True if the job begins with a cited loop, and plans only what the loop leaves open."""
        is_planned = self.verify and self.grain is Grain.AGENTS and not self.has_fixed_plan
        return self.begins_with is Beginning.LOOP and is_planned and not self.plan_only

    @property
    def has_loops(self) -> bool:
        """True if the job's agents, or its beginning, are cited loops."""
        return self.agent_method is AgentMethod.LOOP or self.opens_with_loop

    @property
    def is_one_loop(self) -> bool:
        """True if one cited loop is the whole plan."""
        return self.agent_method is AgentMethod.LOOP and len(self.agents) == 1

    @property
    def begins_as_loop(self) -> bool:
        """True if a cited loop works on the whole question first, or alone."""
        return self.is_one_loop or self.begins_with is Beginning.LOOP

    @property
    def has_fixed_plan(self) -> bool:
        """True if the strategy has a fixed plan, without planner and replanner."""
        return bool(self.agents)

    @property
    def revises_failures(self) -> bool:
        """True if self-revision repairs the plan after an agent task failed."""
        is_graph = self.grain is Grain.AGENTS and not self.has_fixed_plan
        return is_graph and self.repaired_by is Repair.REVISER

    @property
    def agents(self) -> tuple[str, ...]:
        """Return the agents of a fixed plan."""
        return (GENERALIST,) if self.horizon is Horizon.STEP else self.fixed_agents
