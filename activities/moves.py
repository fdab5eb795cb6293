"""What an agent does next: it plans its steps, takes some, asks, or concludes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue, ValidationError

from activities.asking import Desk
from activities.drafted import draft_faults
from activities.node_view import NodeView
from models.errors import FailureClass, Unresolved
from models.failures import Component, Failure
from models.orders import NodeOrder
from models.plan import Expected, Input, Plan, Task, TaskKind, TaskStatus
from models.strategy import Horizon, Strategy, Supervision
from planning.feedback import kpi_failure
from planning.kpis import Candidate, judge
from planning.references import references_in, resolve
from planning.tool_names import with_full_tool_names
from planning.validation import Ground
from planning.values import storable
from roles.assessor import ASSESSOR, Assessment
from roles.drafts import PlanDraft
from roles.node_planner import NODE_PLANNER, OBJECTIVES, REPAIRER, NodeTask
from roles.stepper import STEPPER, Output, StepAnswer


@dataclass(frozen=True)
class Conclusion:
    """An agent's result: what it kept, or why it failed."""

    kept: tuple[Candidate, ...] = ()
    failure: Failure | None = None
    confidence: float | None = None
    contradicts: str = ""


@dataclass(frozen=True)
class Move:
    """One advance of an agent: steps to take, a conclusion, or a question."""

    steps: tuple[Task, ...] = ()
    end: Conclusion | None = None
    question: str = ""
    default: str = ""
    notes: dict[str, JsonValue] = field(default_factory=dict)
    """What to keep of the agent's intentions."""
    cause: str = "stepped"
    explanation: str = ""
    superseded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Agent:
    """An agent at its next move."""

    desk: Desk
    order: NodeOrder
    view: NodeView
    strategy: Strategy

    async def next_move(self) -> Move:
        """What it does now.

        Raises:
            Passing: the model is busy; the ledger keeps what came back until then.
            Lasting: the model refused.
        """
        horizon = self.strategy.node_horizon
        if self.strategy.horizon is Horizon.STEP:
            horizon = Horizon.STEP
        return await (self._planned() if horizon is Horizon.FULL else self._stepped())

    # --- all steps planned at once

    async def _planned(self) -> Move:
        steps = self.view.steps
        if self.order.must_end:
            return Move(end=self._with_what_there_is(self.order.must_end))
        if not steps:
            return await self._plan_steps("", "planned")
        if any(step.task.status is not TaskStatus.DONE for step in steps):
            return Move(end=_failed(self._lost(), steps[-1].confidence))
        if self.strategy.supervise is Supervision.NONE:
            return Move(end=self._with_what_there_is(""))
        return await self._assessed_plan()

    async def _assessed_plan(self) -> Move:
        verdict = await self._assess()
        if isinstance(verdict, Failure):
            return Move(end=Conclusion(failure=verdict))
        if verdict.status == "needs_more_steps":
            return await self._plan_steps(verdict.guidance or verdict.reason, "extended")
        if verdict.status == "failed":
            return Move(end=_failed(verdict.reason, None, verdict.contradicts_plan))
        outputs = verdict.outputs or self._of_last_step()
        end = self._judged(outputs, verdict.reason)
        return Move(end=replace(end, contradicts=verdict.contradicts_plan))

    async def _plan_steps(self, guidance: str, cause: str) -> Move:
        ground = self._ground()

        def check(draft: PlanDraft) -> Sequence[str]:
            return draft_faults(draft, ground)

        task = self.view.told(self.order, guidance=guidance)
        asked = await self.desk.ask(NODE_PLANNER, task, place=self._place(cause), check=check)
        if asked.answer is None:
            return Move(end=_failed(f"the agent gave no valid plan: {'; '.join(asked.faults)}"))
        plan = with_full_tool_names(asked.answer.to_plan(), ground.tools)
        steps = tuple(self._owned(task) for task in plan.tasks)
        return Move(steps=steps, cause=cause, explanation=asked.answer.explanation)

    def _lost(self) -> str:
        lost = [step for step in self.view.steps if step.failure is not None]
        told = "; ".join(f"{s.task.id}: {s.failure.first_line}" for s in lost if s.failure)
        return f"its steps failed and replanning did not help: {told}"

    def _of_last_step(self) -> list[Output]:
        wanted = {entity.name for entity in self.view.task.expects}
        for step in reversed(self.view.steps):
            if step.task.status is TaskStatus.DONE and wanted <= set(step.task.result):
                return [
                    Output(name=n, value=step.task.result[n], confidence=step.confidence)
                    for n in sorted(wanted)
                ]
        return []

    # --- one step after the other

    async def _stepped(self) -> Move:
        notes: dict[str, JsonValue] = {}
        guidance, objectives = "", list(self.view.objectives)
        if self.strategy.supervise is Supervision.STEP:
            if not objectives:
                objectives = await self._objectives()
                notes["objectives"] = list(objectives)
            if self.view.steps:
                verdict = await self._assess()
                if isinstance(verdict, Failure):
                    return Move(end=Conclusion(failure=verdict))
                end = self._verdict_ends(verdict)
                if end is not None:
                    return Move(end=end)
                guidance = verdict.guidance
                notes |= {"guidance": guidance, "verdict": verdict.status}
                if verdict.deviation:
                    objectives = await self._repaired(verdict.deviation)
                    notes |= {"objectives": list(objectives), "deviation": verdict.deviation}
        move = await self._take_step(guidance, objectives)
        return replace(move, notes=notes)

    def _verdict_ends(self, verdict: Assessment) -> Conclusion | None:
        if verdict.status == "failed":
            return _failed(verdict.reason, None, verdict.contradicts_plan)
        if verdict.status == "needs_more_steps":
            return None
        end = self._judged(verdict.outputs, verdict.reason)
        if end.failure is not None and not self.order.must_end:
            return None  # it says it is complete and is not: another step, and it sees why
        return replace(end, contradicts=verdict.contradicts_plan)

    async def _objectives(self) -> list[str]:
        asked = await self.desk.ask(OBJECTIVES, self.view.told(self.order), place=self._place())
        return asked.answer.objectives if asked.answer else []

    async def _repaired(self, deviation: str) -> list[str]:
        task = self.view.told(self.order).model_copy(update={"deviation": deviation})
        asked = await self.desk.ask(REPAIRER, task, place=self._place())
        return asked.answer.objectives if asked.answer else list(self.view.objectives)

    async def _take_step(self, guidance: str, objectives: Sequence[str]) -> Move:
        task = self.view.told(self.order, guidance=guidance, objectives=objectives)
        asked = await self.desk.ask(
            STEPPER, task, place=self._place(), check=lambda answer: self._step_faults(answer, task)
        )
        answer = asked.answer
        if answer is None:
            why = self.order.must_end or f"no valid step: {'; '.join(asked.faults)}"
            return Move(end=self._with_what_there_is(why))
        if answer.outputs:
            return Move(end=self._judged(answer.outputs, answer.thought))
        if answer.question:
            return Move(question=answer.question, default=answer.default)
        if answer.give_up:
            return Move(end=_failed(_ended(self.order.must_end, answer.give_up)))
        return Move(steps=self._calls(answer), explanation=answer.thought)

    def _step_faults(self, answer: StepAnswer, task: NodeTask) -> Sequence[str]:
        said = (answer.calls, answer.outputs, answer.question, answer.give_up)
        if sum(map(bool, said)) != 1:
            return ["answer with exactly one of `calls`, `outputs`, `question`, `give_up`"]
        if task.must_end and not (answer.outputs or answer.give_up):
            return [f"no call is possible any more ({task.must_end}): `outputs` or `give_up`"]
        if answer.outputs:
            end = self._judged(answer.outputs, "")
            return [end.failure.message] if end.failure else []
        if answer.calls:
            return self._call_faults(answer)
        return []

    def _call_faults(self, answer: StepAnswer) -> Sequence[str]:
        try:
            plan = Plan(tasks=self._calls(answer))
        except (ValidationError, Unresolved) as error:
            return [str(error).splitlines()[0]]
        return draft_faults(plan, replace(self._ground(), promise=(), needs_final=False))

    def _calls(self, answer: StepAnswer) -> tuple[Task, ...]:
        number = len(self.view.used_ids)
        calls = []
        for n, call in enumerate(answer.calls, start=number + 1):
            inputs = tuple(
                Input(
                    name=each.name, type=each.type, value=each.value,
                    is_reference="<JSON_PATH>" in str(each.value),
                )
                for each in call.inputs
            )  # fmt: skip
            expects = tuple(Expected(**each.model_dump()) for each in call.expects)
            calls.append(
                Task(
                    id=f"{self.view.task.id}.{n}",
                    kind=TaskKind.TOOL,
                    description=call.description or answer.thought or self.view.task.description,
                    tool=call.tool,
                    inputs=inputs,
                    expects=expects if expects or not self.strategy.extraction else _WANTED,
                    depends_on=_needs(inputs),
                    parent=self.view.task.id,
                )
            )
        plan = Plan(tasks=tuple(calls))
        return with_full_tool_names(plan, {tool.name: tool for tool in self.view.tools}).tasks

    # --- common

    async def _assess(self) -> Assessment | Failure:
        asked = await self.desk.ask(ASSESSOR, self.view.told(self.order), place=self._place())
        if asked.answer is not None:
            return asked.answer
        return _failure(f"the assessor gave no valid verdict: {'; '.join(asked.faults)}")

    def _place(self, *more: str) -> str:
        return "/".join((str(self.order.round), *more))

    def _ground(self) -> Ground:
        kept = {each.task.id: each.task for each in (*self.view.others, *self.view.steps)}
        return Ground(
            tools={tool.name: tool for tool in self.view.tools},
            kept=kept,
            used_ids=frozenset(self.view.used_ids),
            promises_kpis=self.strategy.extraction,
            promise=self.view.task.expects,
            prefix=f"{self.view.task.id}.",
        )

    def _owned(self, task: Task) -> Task:
        return task.model_copy(update={"parent": self.view.task.id})

    def _with_what_there_is(self, why: str) -> Conclusion:
        """The result that its steps hold already, or the failure that says why there is none."""
        outputs = self._of_last_step()
        if outputs or not why:
            end = self._judged(outputs, why)
            if end.failure is None or not why:
                return end
        return _failed(why)

    def _judged(self, outputs: Sequence[Output], reason: str) -> Conclusion:
        """The outputs with their references resolved, checked as every promise is (KPI-07)."""
        try:
            found = {each.name: self._candidate(each) for each in outputs}
        except Unresolved as error:
            return _failed(str(error))
        threshold = self.strategy.confidence_threshold
        verdict = judge(self.view.task.expects, found, threshold)
        if verdict.is_success:
            return Conclusion(kept=verdict.kept, confidence=verdict.confidence)
        failure = kpi_failure(verdict, Component.AGENT, reason, threshold or 0.0)
        return Conclusion(failure=failure, confidence=verdict.confidence)

    def _candidate(self, output: Output) -> Candidate:
        sure = output.confidence
        if sure is None:
            by_id = {
                each.task.id: each.confidence for each in (*self.view.others, *self.view.steps)
            }
            known = [by_id.get(each.task_id) for each in references_in(output.value)]
            sure = min((each for each in known if each is not None), default=1.0)
        value = storable(resolve(output.value, self.view.memory))
        return Candidate(name=output.name, value=value, confidence=sure)


_WANTED = (Expected(name="finding", description="what the answer says on this question"),)


def _needs(inputs: Sequence[Input]) -> tuple[str, ...]:
    found = [each.task_id for given in inputs for each in references_in(given.value)]
    return tuple(dict.fromkeys(found))


def _failed(why: str, confidence: float | None = None, contradicts: str = "") -> Conclusion:
    return Conclusion(failure=_failure(why), confidence=confidence, contradicts=contradicts)


def _failure(why: str) -> Failure:
    return Failure(
        component=Component.AGENT,
        failure_class=FailureClass.SEMANTIC,
        message=f"The agent did not resolve it: {why}"[:4000],
        reason=why[:2000],
    )


def _ended(must_end: str, why: str) -> str:
    return f"{must_end}; {why}" if must_end else why
