"""An agent at its next move: what it may use, and how its result is judged."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from activities.asking import Desk
from activities.node_view import NodeView
from models.errors import FailureClass, Unresolved
from models.failures import Component, Failure
from models.orders import NodeOrder
from models.plan import Task, TaskStatus
from models.strategy import Strategy
from planning.feedback import kpi_failure
from planning.kpis import Candidate, judge
from planning.references import references_in, resolve
from planning.validation import Ground
from planning.values import storable
from roles.assessor import ASSESSOR, Assessment
from roles.stepper import Output


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

    def of_last_step(self) -> list[Candidate]:
        """What it promised, where one of its steps has yielded all of it.

        As it was found: a reference in a value that a tool gave is text, and resolves to nothing.
        """
        wanted = {entity.name for entity in self.view.task.expects}
        for step in reversed(self.view.steps):
            if step.task.status is TaskStatus.DONE and wanted <= set(step.task.result):
                return [
                    Candidate(name=n, value=step.task.result[n], confidence=_sure(step.confidence))
                    for n in sorted(wanted)
                ]
        return []

    async def assess(self) -> Assessment | Failure:
        """The assessor's verdict on the work so far; or that there was none."""
        asked = await self.desk.ask(ASSESSOR, self.view.told(self.order), place=self.place())
        if asked.answer is not None:
            return asked.answer
        return failure_of(f"the assessor gave no valid verdict: {'; '.join(asked.faults)}")

    def place(self, *more: str) -> str:
        """What tells the calls of this round apart from those of others."""
        asked = f"+{len(self.view.answers)}" if self.view.answers else ""
        return "/".join((f"{self.order.round}{asked}", *more))

    def ground(self) -> Ground:
        """What the agent's steps stand on."""
        kept = {each.task.id: each.task for each in (*self.view.others, *self.view.steps)}
        return Ground(
            tools={tool.name: tool for tool in self.view.tools},
            kept=kept,
            used_ids=frozenset(self.view.used_ids),
            promises_kpis=self.strategy.extraction,
            promise=self.view.task.expects,
            prefix=f"{self.view.task.id}.",
        )

    def with_what_there_is(self, why: str) -> Conclusion:
        """The result that its steps hold already, or the failure that says why there is none."""
        outputs = self.of_last_step()
        if outputs or not why:
            end = self.weighed(outputs, why)
            if end.failure is None or not why:
                return end
        return failed(why)

    def judged(self, outputs: Sequence[Output], reason: str) -> Conclusion:
        """The outputs with their references resolved, checked."""
        try:
            found = [self._candidate(each) for each in outputs]
        except Unresolved as error:
            return failed(str(error))
        return self.weighed(found, reason)

    def weighed(self, candidates: Sequence[Candidate], reason: str) -> Conclusion:
        """The values checked as every promise is (KPI-07)."""
        found = {each.name: each for each in candidates}
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


def _sure(confidence: float | None) -> float:
    return 1.0 if confidence is None else confidence


def failed(why: str, confidence: float | None = None, contradicts: str = "") -> Conclusion:
    """An agent that ends without its result."""
    return Conclusion(failure=failure_of(why), confidence=confidence, contradicts=contradicts)


def failure_of(why: str) -> Failure:
    """The failure that says why."""
    return Failure(
        component=Component.AGENT,
        failure_class=FailureClass.SEMANTIC,
        message=f"The agent did not resolve it: {why}"[:4000],
        reason=why[:2000],
    )
