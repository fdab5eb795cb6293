"""Decide a turn of an agent that takes one step after another, as in ReAct and TDP."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue, ValidationError

from holdfast.activities.agents.agent_turn_rules import (
    AgentResult,
    AgentTurn,
    TurnDecision,
    failed_result,
)
from holdfast.activities.agents.planned_searches import ACCOUNT, planned_searches
from holdfast.models.errors import Unresolved
from holdfast.models.plans.plan_drafts import task_input
from holdfast.models.plans.research_plan import ExpectedEntity, Plan, Task, TaskInput, TaskKind
from holdfast.models.strategies.job_strategy import Supervision
from holdfast.models.tasks.agent_role_task import AgentRoleTask, SupervisorTask
from holdfast.models.tasks.task_failure import Failure
from holdfast.planning.plans.entity_references import references_in
from holdfast.planning.plans.plan_draft_faults import draft_faults
from holdfast.planning.plans.tool_fitting import fit_to_tools
from holdfast.roles.agents.assessor import Assessment
from holdfast.roles.agents.stepper import STEPPER, DraftCall, StepperAnswer
from holdfast.roles.planning.agent_steps_planner import OBJECTIVES, REPAIRER

_MOST_QUESTIONS = 5
_AS_PLANNED = "the first queries of the plan"


async def step_by_step_decision(agent: AgentTurn) -> TurnDecision:
    """Return the decision of an agent that works step by step: calls, a question or a result."""
    if agent.strategy.supervise is not Supervision.STEP:
        if (end := agent.met_promise()) is not None:
            return TurnDecision(end=end)
        return await _take_step(agent, "", ())
    return await _supervised_decision(agent)


async def _supervised_decision(agent: AgentTurn) -> TurnDecision:
    """Return the next step towards the objectives, unless the assessor ends the agent task."""
    notes: dict[str, JsonValue] = {}
    objectives = list(agent.view.objectives)
    if not objectives and agent.view.tools:  # without tools the next turn is the last
        objectives = await _ask_for_objectives(agent)
        notes["objectives"] = list(objectives)
    if not agent.view.steps:
        return replace(await _take_step(agent, "", objectives), notes=notes)
    verdict = await agent.assess()
    if isinstance(verdict, Failure):
        return TurnDecision(end=AgentResult(failure=verdict))
    end = _result_of_verdict(agent, verdict)
    if end is not None:
        return TurnDecision(end=end)
    notes |= {"guidance": verdict.guidance, "verdict": verdict.status}
    if verdict.deviation:
        objectives = await _ask_for_repaired_objectives(agent, verdict.deviation)
        notes |= {"objectives": list(objectives), "deviation": verdict.deviation}
    return replace(await _take_step(agent, verdict.guidance, objectives), notes=notes)


def _result_of_verdict(agent: AgentTurn, verdict: Assessment) -> AgentResult | None:
    if verdict.status == "failed":
        return failed_result(verdict.reason, None, verdict.contradicts_plan)
    if verdict.status == "needs_more_steps":
        return None
    end = agent.result_of_outputs(verdict.outputs, verdict.reason)
    if end.failure is not None and not agent.order.must_end:
        return None  # the assessor is wrong, the result is incomplete: go on
    return replace(end, contradicts=verdict.contradicts_plan)


async def _ask_for_objectives(agent: AgentTurn) -> list[str]:
    asked = await agent.model_caller.ask(
        OBJECTIVES, SupervisorTask.of(agent.view.told(agent.order)), place=agent.place()
    )
    return asked.answer.objectives if asked.answer else []


async def _ask_for_repaired_objectives(agent: AgentTurn, deviation: str) -> list[str]:
    task = agent.view.told(agent.order).model_copy(update={"deviation": deviation})
    asked = await agent.model_caller.ask(REPAIRER, SupervisorTask.of(task), place=agent.place())
    return asked.answer.objectives if asked.answer else list(agent.view.objectives)


async def _take_step(agent: AgentTurn, guidance: str, objectives: Sequence[str]) -> TurnDecision:
    first = planned_searches(agent.view, extracts=agent.strategy.extraction)
    if first and not agent.order.must_end:
        return TurnDecision(steps=first, explanation=_AS_PLANNED)
    task = agent.view.told(agent.order, guidance=guidance, objectives=objectives)
    asked = await agent.model_caller.ask(
        STEPPER, task, place=agent.place(), check=lambda answer: _step_faults(agent, answer, task)
    )
    answer = asked.answer
    if answer is None:
        why = agent.order.must_end or f"no valid step: {'; '.join(asked.faults)}"
        return TurnDecision(end=agent.best_available_result(why))
    if answer.outputs:
        return TurnDecision(end=agent.result_of_outputs(answer.outputs, answer.thought))
    if answer.question:
        return TurnDecision(question=answer.question, default=answer.default)
    if answer.give_up:
        return TurnDecision(
            end=failed_result(_give_up_reason(agent.order.must_end, answer.give_up))
        )
    return TurnDecision(steps=_call_tasks(agent, answer), explanation=answer.thought)


def _step_faults(agent: AgentTurn, answer: StepperAnswer, task: AgentRoleTask) -> Sequence[str]:
    said = (answer.calls, answer.outputs, answer.question, answer.give_up)
    if sum(map(bool, said)) != 1:
        return ["answer with exactly one of `calls`, `outputs`, `question`, `give_up`"]
    if task.must_end and not (answer.outputs or answer.give_up):
        return [f"no call is possible any more ({task.must_end}): `outputs` or `give_up`"]
    if answer.question and len(agent.view.answers) >= _MOST_QUESTIONS:
        return [f"{_MOST_QUESTIONS} questions were answered; ask nothing more"]
    if answer.outputs:
        if faults := agent.reference_faults(answer.outputs):
            return faults
        end = agent.result_of_outputs(answer.outputs, "")
        return [end.failure.message] if end.failure else []
    if answer.calls:
        return _call_faults(agent, answer)
    return []


def _call_faults(agent: AgentTurn, answer: StepperAnswer) -> Sequence[str]:
    try:
        plan = Plan(tasks=_call_tasks(agent, answer))
    except (ValidationError, Unresolved) as error:
        return [str(error).splitlines()[0]]
    return draft_faults(plan, replace(agent.ground(), promise=(), needs_final=False))


def _call_tasks(agent: AgentTurn, answer: StepperAnswer) -> tuple[Task, ...]:
    """Return the calls as new steps of the agent.

    Under a supervisor of each step only the first call is made: it is assessed before the next.
    """
    first = len(agent.view.used_ids) + 1
    about = answer.thought or agent.view.task.description
    is_supervised = agent.strategy.supervise is Supervision.STEP
    proposed = answer.calls[:1] if is_supervised else answer.calls
    calls = [_call_task(agent, n, call, about) for n, call in enumerate(proposed, start=first)]
    known = {tool.name: tool for tool in agent.view.tools}
    return fit_to_tools(Plan(tasks=tuple(calls)), known).tasks


def _call_task(agent: AgentTurn, number: int, call: DraftCall, about: str) -> Task:
    inputs = tuple(task_input(each) for each in call.inputs)
    expects = tuple(ExpectedEntity(**each.model_dump()) for each in call.expects)
    return Task(
        id=f"{agent.view.task.id}.{number}",
        kind=TaskKind.TOOL,
        description=call.description or about,
        tool=call.tool,
        inputs=inputs,
        expects=expects if expects or not agent.strategy.extraction else ACCOUNT,
        depends_on=_referenced_task_ids(inputs),
        parent=agent.view.task.id,
    )


def _referenced_task_ids(inputs: Sequence[TaskInput]) -> tuple[str, ...]:
    found = [each.task_id for given in inputs for each in references_in(given.value)]
    return tuple(dict.fromkeys(found))


def _give_up_reason(must_end: str, why: str) -> str:
    return f"{must_end}; {why}" if must_end else why
