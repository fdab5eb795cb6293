"""An agent that plans all its steps at once, and looks again when one fails or all are done."""

from collections.abc import Sequence
from dataclasses import replace

from activities.agent import Agent, Conclusion, Move, failed
from activities.drafted import draft_faults
from models.failures import Failure
from models.plan import TaskStatus
from models.strategy import Supervision
from planning.tool_names import with_full_tool_names
from roles.drafts import PlanDraft
from roles.node_planner import NODE_PLANNER


async def planned_move(agent: Agent) -> Move:
    """What such an agent does now: it plans, concludes, or fails as its steps did."""
    steps = agent.view.steps
    if agent.order.must_end:
        return Move(end=agent.with_what_there_is(agent.order.must_end))
    if not steps:
        return await _plan_steps(agent, "", "planned")
    if any(step.task.status is not TaskStatus.DONE for step in steps):
        return Move(end=failed(_lost(agent), steps[-1].confidence))
    if agent.strategy.supervise is Supervision.NONE:
        return Move(end=agent.with_what_there_is(""))
    return await _assessed_plan(agent)


async def _assessed_plan(agent: Agent) -> Move:
    verdict = await agent.assess()
    if isinstance(verdict, Failure):
        return Move(end=Conclusion(failure=verdict))
    if verdict.status == "needs_more_steps":
        return await _plan_steps(agent, verdict.guidance or verdict.reason, "extended")
    if verdict.status == "failed":
        return Move(end=failed(verdict.reason, None, verdict.contradicts_plan))
    if verdict.outputs:
        end = agent.judged(verdict.outputs, verdict.reason)
    else:
        end = agent.weighed(agent.of_last_step(), verdict.reason)
    return Move(end=replace(end, contradicts=verdict.contradicts_plan))


async def _plan_steps(agent: Agent, guidance: str, cause: str) -> Move:
    ground = agent.ground()

    def check(draft: PlanDraft) -> Sequence[str]:
        left = agent.strategy.max_node_steps - len(agent.view.steps)
        if len(draft.tasks) > max(1, left):
            return [f"there are {len(draft.tasks)} steps; {max(1, left)} are left (max_node_steps)"]
        return draft_faults(draft, ground)

    task = agent.view.told(agent.order, guidance=guidance)
    asked = await agent.desk.ask(NODE_PLANNER, task, place=agent.place(cause), check=check)
    if asked.answer is None:
        return Move(end=failed(f"the agent gave no valid plan: {'; '.join(asked.faults)}"))
    plan = with_full_tool_names(asked.answer.to_plan(), ground.tools)
    mine = {"parent": agent.view.task.id}
    steps = tuple(task.model_copy(update=mine) for task in plan.tasks)
    return Move(steps=steps, cause=cause, explanation=asked.answer.explanation)


def _lost(agent: Agent) -> str:
    lost = [step for step in agent.view.steps if step.failure is not None]
    told = "; ".join(f"{s.task.id}: {s.failure.first_line}" for s in lost if s.failure)
    return f"its steps failed and replanning did not help: {told}"
