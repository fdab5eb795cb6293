"""What a replanning may see and change: the plan itself, or one agent's steps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from activities.node_view import NodeView, viewed
from models.agents import AgentBrief
from models.jobs import JobRequest
from models.listing import plan_for_prompt
from models.orders import ReplanOrder
from models.plan import Expected, Plan, Task
from models.strategy import Grain, ReplanScope
from models.tools import ToolSignature
from planning.agents import Agents, tools_of
from planning.merge import as_started, replaced_by
from planning.tool_names import with_full_tool_names
from planning.validation import Ground
from roles.base import Role
from roles.replanner import GRAPH_REPLANNER, NODE_REPLANNER, REPLANNER, ReplannerTask
from storage.plans import StoredTask


@dataclass(frozen=True)
class Scope:
    """A part of the plan that is replanned by itself."""

    parent: str
    """The agent whose steps these are; empty for the plan itself."""
    plan: Plan
    """The tasks of this scope alone."""
    extent: ReplanScope
    model: str
    """Who replans it: the job's model, or that of the agent."""
    role: Role[ReplannerTask, Any]
    task: ReplannerTask
    ground: Ground

    def owned(self, continuation: Plan) -> Plan:
        """The continuation as tasks of this scope."""
        named = with_full_tool_names(continuation, self.ground.tools)
        mine = {"parent": self.parent}
        return Plan(tasks=tuple(task.model_copy(update=mine) for task in named.tasks))

    def with_the_rest(self, known: Sequence[StoredTask], changed: Plan) -> Plan:
        """The whole plan, in which this scope is as it was changed."""
        rest = tuple(each.task for each in known if each.task.parent != self.parent)
        return Plan(tasks=rest + changed.tasks)


def ground_of_plan(
    request: JobRequest,
    signatures: tuple[ToolSignature, ...],
    agents: tuple[AgentBrief, ...],
    used_ids: frozenset[str] = frozenset(),
) -> Ground:
    """What a whole plan of this job stands on, whoever writes it."""
    strategy = request.strategy
    has_agents = strategy.grain is Grain.NODES or strategy.has_fixed_plan
    return Ground(
        tools={tool.name: tool for tool in signatures},
        used_ids=used_ids,
        promises_kpis=strategy.extraction,
        needs_final=not strategy.verify,
        agents=frozenset(agent.name for agent in agents) if has_agents else frozenset(),
    )


def scope_of(
    request: JobRequest,
    known: Sequence[StoredTask],
    order: ReplanOrder,
    signatures: tuple[ToolSignature, ...],
    guidance: tuple[str, ...],
    agents: Agents,
) -> Scope:
    """The scope of a failed task: what its replanner is told, and what a continuation stands on."""
    failed = next(each for each in known if each.task.id == order.task_id)
    parent = failed.task.parent
    whole = as_started(Plan(tasks=tuple(each.task for each in known)), order.under_way)
    plan = whole.of(parent)
    extent = request.strategy.replan_scope
    replaced = replaced_by(plan, order.task_id, extent)
    kept = {task.id: task for task in plan.live if task.id not in replaced}
    if parent:
        view = _view(known, parent, signatures, agents)
        return _of_agent(known, failed, plan, replaced, view, request)
    is_graph = request.strategy.grain is Grain.NODES
    able = agents.usable(signatures) if is_graph else ()
    ground = Ground(
        tools={tool.name: tool for tool in signatures},
        kept=kept,
        used_ids=frozenset(whole.by_id),
        promises_kpis=request.strategy.extraction,
        needs_final=not request.strategy.verify and not any(t.is_final for t in kept.values()),
        agents=frozenset(agent.name for agent in able),
    )
    task = _task(request.question, ground, known, failed, replaced, able, guidance)
    role = GRAPH_REPLANNER if is_graph else REPLANNER
    return Scope(parent, plan, extent, request.model, role, task, ground)


def _of_agent(
    known: Sequence[StoredTask],
    failed: StoredTask,
    plan: Plan,
    replaced: tuple[str, ...],
    view: NodeView,
    request: JobRequest,
) -> Scope:
    parent = failed.task.parent
    kept = {task.id: task for task in plan.live if task.id not in replaced}
    promise = _open_promise(view.task.expects, kept.values())
    ground = Ground(
        tools={tool.name: tool for tool in view.tools},
        kept={**kept, **{each.task.id: each.task for each in view.others}},
        used_ids=frozenset(plan.by_id),
        promises_kpis=request.strategy.extraction,
        needs_final=False,
        promise=promise,
        prefix=f"{parent}.",
    )
    mine = [each for each in known if each.task.parent == parent]
    task = _task(view.task.description, ground, mine, failed, replaced, (), ())
    scoped = {"expects": promise, "given": view.given}
    extent = ReplanScope.DEPENDENTS
    model = view.agent.model or request.model
    asked = task.model_copy(update=scoped)
    return Scope(parent, plan, extent, model, NODE_REPLANNER, asked, ground)


def _view(
    known: Sequence[StoredTask],
    node: str,
    signatures: tuple[ToolSignature, ...],
    agents: Agents,
) -> NodeView:
    task = next(each.task for each in known if each.task.id == node)
    near = [
        e
        for e in known
        if e.task.id == node or e.task.parent == node or e.task.id in task.depends_on
    ]
    agent = agents.profile(task.agent)
    return viewed(near, node, agent, tools_of(agent, signatures))


def _open_promise(expects: tuple[Expected, ...], kept: Iterable[Task]) -> tuple[Expected, ...]:
    """What the continuation must yield: nothing more where a step that stays yields it."""
    names = {entity.name for entity in expects}
    holds = any({entity.name for entity in task.expects} == names for task in kept)
    return () if holds else expects


def _task(
    question: str,
    ground: Ground,
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
        current_plan=plan_for_prompt(each.task for each in shown),
        failed_task_id=failed.task.id,
        feedback=why,
        replaced=replaced,
        used_ids=tuple(each.task.id for each in shown),
        agents=agents,
        guidance=guidance,
    )
