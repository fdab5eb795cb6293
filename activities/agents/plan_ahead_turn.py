"""Decide what an agent that plans all its steps ahead does in its next turn."""

from collections.abc import Sequence
from dataclasses import replace

from holdfast.activities.agents.agent_turn_rules import (
    AgentResult,
    AgentTurn,
    TurnDecision,
    failed_result,
)
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.plan_drafts import PlanDraft
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.strategies.job_strategy import Supervision
from holdfast.models.tasks.task_failure import Failure
from holdfast.planning.plans.plan_draft_faults import draft_faults
from holdfast.planning.plans.tool_fitting import fit_to_tools
from holdfast.roles.planning.agent_steps_planner import STEP_PLANNER


async def plan_ahead_decision(agent: AgentTurn) -> TurnDecision:
    """Return the decision of an agent that plans ahead: steps, a result or a failure."""
    steps = agent.view.steps
    if agent.order.must_end:
        return TurnDecision(end=agent.best_available_result(agent.order.must_end))
    if not steps:
        return await _plan_steps(agent, "", PlanChangeCause.PLANNED)
    if any(step.task.status is not TaskStatus.DONE for step in steps):
        return TurnDecision(end=failed_result(_failed_steps_reason(agent), steps[-1].confidence))
    if agent.strategy.supervise is Supervision.NONE:
        return TurnDecision(end=agent.best_available_result(""))
    if (end := agent.met_promise()) is not None:
        return TurnDecision(end=end)
    return await _assess_and_decide(agent)


async def _assess_and_decide(agent: AgentTurn) -> TurnDecision:
    verdict = await agent.assess()
    if isinstance(verdict, Failure):
        return TurnDecision(end=AgentResult(failure=verdict))
    if verdict.status == "needs_more_steps":
        return await _plan_steps(
            agent, verdict.guidance or verdict.reason, PlanChangeCause.EXTENDED
        )
    if verdict.status == "failed":
        return TurnDecision(end=failed_result(verdict.reason, None, verdict.contradicts_plan))
    if verdict.outputs:
        end = agent.result_of_outputs(verdict.outputs, verdict.reason)
    else:
        end = agent.weighed(agent.last_step_values(), verdict.reason)
    return TurnDecision(end=replace(end, contradicts=verdict.contradicts_plan))


async def _plan_steps(agent: AgentTurn, guidance: str, cause: PlanChangeCause) -> TurnDecision:
    ground = agent.ground()

    def check(draft: PlanDraft) -> Sequence[str]:
        left = agent.strategy.max_agent_steps - len(agent.view.steps)
        if len(draft.tasks) > max(1, left):
            return [
                f"there are {len(draft.tasks)} steps; {max(1, left)} are left (max_agent_steps)"
            ]
        return draft_faults(draft, ground)

    task = agent.view.told(agent.order, guidance=guidance)
    asked = await agent.model_caller.ask(STEP_PLANNER, task, place=agent.place(cause), check=check)
    if asked.answer is None:
        return TurnDecision(
            end=failed_result(f"the agent gave no valid plan: {'; '.join(asked.faults)}")
        )
    plan = fit_to_tools(asked.answer.to_plan(), ground.tools)
    steps = tuple(task.with_parent(agent.view.task.id) for task in plan.tasks)
    return TurnDecision(steps=steps, cause=cause, explanation=asked.answer.explanation)


def _failed_steps_reason(agent: AgentTurn) -> str:
    lost = [step for step in agent.view.steps if step.failure is not None]
    told = "; ".join(f"{s.task.id}: {s.failure.first_line}" for s in lost if s.failure)
    return f"its steps failed and replanning did not help: {told}"
