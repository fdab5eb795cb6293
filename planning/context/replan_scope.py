"""Find what a replanning may see and change: the whole plan, or the steps of an agent task."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from holdfast.models.calls.job_setting import JobSetting
from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.errors import FailureClass
from holdfast.models.jobs.activity_orders import ReplanOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.plan_drafts import AgentPlanDraft, PlanDraft
from holdfast.models.plans.research_plan import ExpectedEntity, Plan, Task, TaskStatus
from holdfast.models.plans.shown_plan import shown_plan
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.strategies.job_strategy import Grain, ReplanScope
from holdfast.models.tasks.replanner_input import ReplannerTask
from holdfast.models.tasks.stored_task import StoredTask, plan_of
from holdfast.planning.context.agent_context import AgentContext, build_agent_context
from holdfast.planning.plans.kept_tasks import KeptTasks, repeated_failures
from holdfast.planning.plans.plan_continuation import replaced_tasks
from holdfast.planning.plans.plan_draft_faults import draft_as_plan, kept_ids
from holdfast.planning.plans.plan_validation import PlanRules, plan_faults
from holdfast.planning.plans.tool_fitting import fit_to_tools
from holdfast.planning.strategies.agent_catalogue import AgentCatalogue, tools_of


class ReplanKind(Enum):
    """What a continuation is made of, and so which replanner writes it."""

    PLAN = auto()
    """Tool and reasoning tasks of the plan itself."""
    AGENT_TASKS = auto()
    STEPS = auto()
    """The steps of one agent task."""


@dataclass(frozen=True)
class ReplanTarget:
    """A part of the plan that is replanned by itself."""

    parent: str
    """The agent whose steps these are; empty for the plan itself."""
    plan: Plan
    """The tasks of this scope alone."""
    extent: ReplanScope
    model: str
    """The agent's own model, which replans its steps; empty: the job's model does."""
    kind: ReplanKind
    task: ReplannerTask
    ground: PlanRules
    tried: tuple[Task, ...] = ()
    """Tasks of this scope that failed by what they are; to do one again changes nothing."""

    def continuation(self, draft: PlanDraft | AgentPlanDraft) -> Plan:
        """The continuation as tasks of this scope, those that it keeps among them."""
        whole = self._kept.completed(draft.to_plan(), kept_ids(draft))
        named = self._fitted(whole)
        return Plan(tasks=tuple(task.with_parent(self.parent) for task in named.tasks))

    def faults(self, draft: PlanDraft | AgentPlanDraft) -> Sequence[str]:
        """What is wrong with a continuation, in words that its author can act on."""
        read = draft_as_plan(draft)
        if not isinstance(read, Plan):
            return read
        named = self._fitted(read)
        keep = kept_ids(draft)
        if faults := self._kept.faults(named, keep):
            return faults
        return plan_faults(self._kept.completed(named, keep), self.ground)

    def repeats(self, draft: PlanDraft | AgentPlanDraft) -> Sequence[str]:
        """The tasks of a valid continuation that do again exactly what failed before."""
        named = self._fitted(draft.to_plan())
        return repeated_failures(named, self.tried)

    def _fitted(self, plan: Plan) -> Plan:
        return fit_to_tools(plan, self.ground.tools, self.ground.agents)

    @property
    def _kept(self) -> KeptTasks:
        return KeptTasks(self.plan, self.task.replaced, self.task.failed_task_id)


def rules_for_plan(
    request: JobRequest,
    signatures: tuple[ToolSignature, ...],
    agents: tuple[AgentBrief, ...],
    used_ids: frozenset[str] = frozenset(),
    opening: Task | None = None,
) -> PlanRules:
    """The rules for a whole plan of this job, after the loop that it began with if it did."""
    strategy = request.strategy
    has_agents = strategy.grain is Grain.AGENTS or strategy.has_fixed_plan
    return PlanRules(
        tools={tool.name: tool for tool in signatures},
        kept={opening.id: opening} if opening and opening.status is TaskStatus.DONE else {},
        used_ids=used_ids | ({opening.id} if opening else set()),
        may_be_empty=opening is not None,
        requires_entities=strategy.extraction,
        needs_final=not strategy.verify,
        agents=frozenset(agent.name for agent in agents) if has_agents else frozenset(),
    )


def find_replan_target(
    request: JobRequest,
    known: Sequence[StoredTask],
    order: ReplanOrder,
    signatures: tuple[ToolSignature, ...],
    guidance: tuple[str, ...],
    agents: AgentCatalogue,
    setting: JobSetting,
) -> ReplanTarget:
    """The replan target of a failed task: the replanner's task and the rules of a continuation."""
    failed = next(each for each in known if each.task.id == order.task_id)
    parent = failed.task.parent
    whole = plan_of(known).with_started(order.under_way)
    plan = whole.of(parent)
    extent = request.strategy.replan_scope
    tried = tuple(e.task for e in known if e.task.parent == parent and _failed_by_itself(e))
    replaced = replaced_tasks(plan, order.task_id, extent)
    kept = {task.id: task for task in plan.live if task.id not in replaced}
    if parent:
        view = _context_of_agent_task(known, parent, signatures, agents)
        target = _agent_task_target(known, failed, plan, replaced, view, request)
        told = target.task.model_copy(update=setting.model_dump())
        return replace(target, task=told, tried=tried)
    is_graph = request.strategy.grain is Grain.AGENTS
    able = agents.usable_agents(signatures) if is_graph else ()
    ground = PlanRules(
        tools={tool.name: tool for tool in signatures},
        kept=kept,
        used_ids=frozenset(whole.by_id),
        requires_entities=request.strategy.extraction,
        needs_final=not request.strategy.verify and not any(t.is_final for t in kept.values()),
        # A continuation without tasks gives up an agent task that was tried in every way.
        may_be_empty=is_graph,
        agents=frozenset(agent.name for agent in able),
    )
    task = _replanner_task(
        request.question_in_context, ground, known, failed, replaced, able, guidance
    )
    task = task.model_copy(update=setting.model_dump())
    kind = ReplanKind.AGENT_TASKS if is_graph else ReplanKind.PLAN
    return ReplanTarget(parent, plan, extent, "", kind, task, ground, tried)


def _failed_by_itself(stored: StoredTask) -> bool:
    """True if the task failed, and would fail again, whatever is around it."""
    failure = stored.failure
    return failure is not None and failure.failure_class in (
        FailureClass.SEMANTIC,
        FailureClass.TOOL,
    )


def _agent_task_target(
    known: Sequence[StoredTask],
    failed: StoredTask,
    plan: Plan,
    replaced: tuple[str, ...],
    view: AgentContext,
    request: JobRequest,
) -> ReplanTarget:
    parent = failed.task.parent
    kept = {task.id: task for task in plan.live if task.id not in replaced}
    promise = _open_promise(view.task.expects, kept.values())
    ground = PlanRules(
        tools={tool.name: tool for tool in view.tools},
        kept={**kept, **{each.task.id: each.task for each in view.others}},
        used_ids=frozenset(plan.by_id),
        requires_entities=request.strategy.extraction,
        needs_final=False,
        promise=promise,
        prefix=f"{parent}.",
    )
    mine = [each for each in known if each.task.parent == parent]
    task = _replanner_task(view.task.description, ground, mine, failed, replaced, (), ())
    scoped = {"expects": promise, "given": view.given}
    extent = ReplanScope.DEPENDENTS
    model = view.agent.model or ""
    asked = task.model_copy(update=scoped)
    return ReplanTarget(parent, plan, extent, model, ReplanKind.STEPS, asked, ground)


def _context_of_agent_task(
    known: Sequence[StoredTask],
    task_id: str,
    signatures: tuple[ToolSignature, ...],
    agents: AgentCatalogue,
) -> AgentContext:
    task = next(each.task for each in known if each.task.id == task_id)
    near = [
        e
        for e in known
        if e.task.id == task_id or e.task.parent == task_id or e.task.id in task.depends_on
    ]
    agent = agents.profile(task.agent)
    return build_agent_context(near, task_id, agent, tools_of(agent, signatures))


def _open_promise(
    expects: tuple[ExpectedEntity, ...], kept: Iterable[Task]
) -> tuple[ExpectedEntity, ...]:
    """The entities that the continuation must yield; none if a kept step yields them."""
    names = {entity.name for entity in expects}
    holds = any({entity.name for entity in task.expects} == names for task in kept)
    return () if holds else expects


def _replanner_task(
    question: str,
    ground: PlanRules,
    known: Sequence[StoredTask],
    failed: StoredTask,
    replaced: tuple[str, ...],
    agents: tuple[AgentBrief, ...],
    guidance: tuple[str, ...],
) -> ReplannerTask:
    why = failed.failure.message if failed.failure else "the task failed without a reason"
    shown = [each for each in known if each.task.parent == failed.task.parent]
    return ReplannerTask(
        question=question,
        tools=() if agents else tuple(ground.tools.values()),
        current_plan=shown_plan(each.task for each in shown),
        failed_task_id=failed.task.id,
        feedback=why,
        replaced=replaced,
        used_ids=tuple(each.task.id for each in shown),
        agents=agents,
        guidance=guidance,
    )
