"""An agent that takes one step after the other: ReAct, or TDP's node with a supervisor."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue, ValidationError

from activities.agent import Agent, Conclusion, Move, failed
from activities.drafted import draft_faults
from models.errors import Unresolved
from models.failures import Failure
from models.plan import Expected, Input, Plan, Task, TaskKind
from models.strategy import Supervision
from planning.references import references_in
from planning.tool_names import with_full_tool_names
from roles.assessor import Assessment
from roles.drafts import input_of
from roles.node_planner import OBJECTIVES, REPAIRER, NodeTask
from roles.stepper import STEPPER, DraftCall, StepAnswer

_MOST_QUESTIONS = 5
_WANTED = (Expected(name="finding", description="what the answer says on this question"),)


async def stepped_move(agent: Agent) -> Move:
    """What such an agent does now: the next calls, a question, or its conclusion."""
    if agent.strategy.supervise is not Supervision.STEP:
        return await _take_step(agent, "", ())
    return await _supervised(agent)


async def _supervised(agent: Agent) -> Move:
    """The next step towards its objectives, unless the assessor says that it is over."""
    notes: dict[str, JsonValue] = {}
    objectives = list(agent.view.objectives)
    if not objectives:
        objectives = await _objectives(agent)
        notes["objectives"] = list(objectives)
    if not agent.view.steps:
        return replace(await _take_step(agent, "", objectives), notes=notes)
    verdict = await agent.assess()
    if isinstance(verdict, Failure):
        return Move(end=Conclusion(failure=verdict))
    end = _verdict_ends(agent, verdict)
    if end is not None:
        return Move(end=end)
    notes |= {"guidance": verdict.guidance, "verdict": verdict.status}
    if verdict.deviation:
        objectives = await _repaired(agent, verdict.deviation)
        notes |= {"objectives": list(objectives), "deviation": verdict.deviation}
    return replace(await _take_step(agent, verdict.guidance, objectives), notes=notes)


def _verdict_ends(agent: Agent, verdict: Assessment) -> Conclusion | None:
    if verdict.status == "failed":
        return failed(verdict.reason, None, verdict.contradicts_plan)
    if verdict.status == "needs_more_steps":
        return None
    end = agent.judged(verdict.outputs, verdict.reason)
    if end.failure is not None and not agent.order.must_end:
        return None  # it says it is complete and is not: another step, and it sees why
    return replace(end, contradicts=verdict.contradicts_plan)


async def _objectives(agent: Agent) -> list[str]:
    asked = await agent.desk.ask(OBJECTIVES, agent.view.told(agent.order), place=agent.place())
    return asked.answer.objectives if asked.answer else []


async def _repaired(agent: Agent, deviation: str) -> list[str]:
    task = agent.view.told(agent.order).model_copy(update={"deviation": deviation})
    asked = await agent.desk.ask(REPAIRER, task, place=agent.place())
    return asked.answer.objectives if asked.answer else list(agent.view.objectives)


async def _take_step(agent: Agent, guidance: str, objectives: Sequence[str]) -> Move:
    task = agent.view.told(agent.order, guidance=guidance, objectives=objectives)
    asked = await agent.desk.ask(
        STEPPER, task, place=agent.place(), check=lambda answer: _step_faults(agent, answer, task)
    )
    answer = asked.answer
    if answer is None:
        why = agent.order.must_end or f"no valid step: {'; '.join(asked.faults)}"
        return Move(end=agent.with_what_there_is(why))
    if answer.outputs:
        return Move(end=agent.judged(answer.outputs, answer.thought))
    if answer.question:
        return Move(question=answer.question, default=answer.default)
    if answer.give_up:
        return Move(end=failed(_ended(agent.order.must_end, answer.give_up)))
    return Move(steps=_calls(agent, answer), explanation=answer.thought)


def _step_faults(agent: Agent, answer: StepAnswer, task: NodeTask) -> Sequence[str]:
    said = (answer.calls, answer.outputs, answer.question, answer.give_up)
    if sum(map(bool, said)) != 1:
        return ["answer with exactly one of `calls`, `outputs`, `question`, `give_up`"]
    if task.must_end and not (answer.outputs or answer.give_up):
        return [f"no call is possible any more ({task.must_end}): `outputs` or `give_up`"]
    if answer.question and len(agent.view.answers) >= _MOST_QUESTIONS:
        return [f"{_MOST_QUESTIONS} questions were answered; ask nothing more"]
    if answer.outputs:
        end = agent.judged(answer.outputs, "")
        return [end.failure.message] if end.failure else []
    if answer.calls:
        return _call_faults(agent, answer)
    return []


def _call_faults(agent: Agent, answer: StepAnswer) -> Sequence[str]:
    try:
        plan = Plan(tasks=_calls(agent, answer))
    except (ValidationError, Unresolved) as error:
        return [str(error).splitlines()[0]]
    return draft_faults(plan, replace(agent.ground(), promise=(), needs_final=False))


def _calls(agent: Agent, answer: StepAnswer) -> tuple[Task, ...]:
    """The calls as steps of the agent, behind those it has taken."""
    first = len(agent.view.used_ids) + 1
    about = answer.thought or agent.view.task.description
    calls = [_call(agent, n, call, about) for n, call in enumerate(answer.calls, start=first)]
    known = {tool.name: tool for tool in agent.view.tools}
    return with_full_tool_names(Plan(tasks=tuple(calls)), known).tasks


def _call(agent: Agent, number: int, call: DraftCall, about: str) -> Task:
    inputs = tuple(input_of(each) for each in call.inputs)
    expects = tuple(Expected(**each.model_dump()) for each in call.expects)
    return Task(
        id=f"{agent.view.task.id}.{number}",
        kind=TaskKind.TOOL,
        description=call.description or about,
        tool=call.tool,
        inputs=inputs,
        expects=expects if expects or not agent.strategy.extraction else _WANTED,
        depends_on=_needs(inputs),
        parent=agent.view.task.id,
    )


def _needs(inputs: Sequence[Input]) -> tuple[str, ...]:
    found = [each.task_id for given in inputs for each in references_in(given.value)]
    return tuple(dict.fromkeys(found))


def _ended(must_end: str, why: str) -> str:
    return f"{must_end}; {why}" if must_end else why
