"""One turn of an agent task: the rules for its steps and the check of its result."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.errors import FailureClass, Unresolved
from holdfast.models.jobs.activity_orders import AgentTaskOrder
from holdfast.models.loop.loop_results import LoopResult
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Task, TaskStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.tasks.agent_role_task import SupervisorTask
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.models.tasks.task_failure import Component, Failure
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.models.text.storable_text import storable_value
from holdfast.models.wire import call_places
from holdfast.planning.context.agent_context import AgentContext
from holdfast.planning.plans.entity_references import (
    misspelt_reference_faults,
    references_in,
    resolve_references,
)
from holdfast.planning.plans.plan_validation import PlanRules
from holdfast.planning.results.entity_names import promised_name
from holdfast.planning.results.kpi_check import EntityCandidate, check_kpis
from holdfast.planning.results.kpi_failure import kpi_failure
from holdfast.planning.results.value_types import convert_to_type, is_missing
from holdfast.roles.agents.assessor import ASSESSOR, Assessment
from holdfast.roles.agents.stepper import Output


@dataclass(frozen=True)
class AgentResult:
    """An agent's result: what it kept, or why it failed."""

    kept: tuple[EntityValue, ...] = ()
    failure: Failure | None = None
    confidence: float | None = None
    contradicts: str = ""
    is_answered: bool = False
    """True if an opening loop answered the whole question."""


@dataclass(frozen=True)
class TurnDecision:
    """The decision of one turn: steps to take, a result, or a question."""

    steps: tuple[Task, ...] = ()
    end: AgentResult | None = None
    question: str = ""
    default: str = ""
    notes: dict[str, JsonValue] = field(default_factory=dict)
    """Notes of the agent to store."""
    cause: PlanChangeCause = PlanChangeCause.STEPPED
    explanation: str = ""
    superseded: tuple[str, ...] = ()
    loop_result: LoopResult | None = None
    """The proven answer of an agent that works as a loop."""


@dataclass(frozen=True)
class AgentTurn:
    """One turn of an agent task, before its decision."""

    model_caller: ModelCaller
    order: AgentTaskOrder
    view: AgentContext
    strategy: Strategy

    def last_step_values(self) -> list[EntityCandidate]:
        """Return the promised entities if one of the agent's steps found all of them.

        The values are unchanged: a reference inside a tool's value is text and is not resolved.
        """
        wanted = {entity.name for entity in self.view.task.expects}
        for step in reversed(self.view.steps):
            if step.task.status is TaskStatus.DONE and wanted <= set(step.task.result):
                return [
                    EntityCandidate(
                        name=n,
                        value=step.task.result[n],
                        confidence=_confidence_or_full(step.confidence),
                    )
                    for n in sorted(wanted)
                ]
        return []

    def met_promise(self) -> AgentResult | None:
        """Return the result if one step found all promised values, each sure enough.

        The step was checked as a task of its own; what the criteria ask beyond is for the verifier.
        """
        found = self.last_step_values() if self.strategy.extraction else []
        end = self.weighed(found, "") if found else None
        return None if end is None or end.failure else end

    async def assess(self) -> Assessment | Failure:
        """Return the assessor's verdict on the steps so far, or the faults of its answers."""
        asked = await self.model_caller.ask(
            ASSESSOR,
            SupervisorTask.of(self.view.told(self.order)),
            place=self.place(),
            check=lambda verdict: self.reference_faults(verdict.outputs),
        )
        if asked.answer is not None:
            return asked.answer
        return agent_failure(f"the assessor gave no valid verdict: {'; '.join(asked.faults)}")

    def place(self, *more: str) -> str:
        """The label of this turn's calls in the call ledger."""
        return call_places.turn_place(self.order.turn, len(self.view.answers), *more)

    def ground(self) -> PlanRules:
        """The rules for the agent's steps."""
        kept = {each.task.id: each.task for each in (*self.view.others, *self.view.steps)}
        return PlanRules(
            tools={tool.name: tool for tool in self.view.tools},
            kept=kept,
            used_ids=frozenset(self.view.used_ids),
            requires_entities=self.strategy.extraction,
            promise=self.view.task.expects,
            prefix=f"{self.view.task.id}.",
        )

    def best_available_result(self, why: str) -> AgentResult:
        """Return the result that the steps contain, or a failure with the reason."""
        outputs = self.last_step_values()
        if outputs or not why:
            end = self.weighed(outputs, why)
            if end.failure is None or not why:
                return end
        return failed_result(why)

    def reference_faults(self, outputs: Sequence[Output]) -> list[str]:
        """Return the faults of the references in the outputs, to be sent back to their author."""
        return [
            f"output {output.name!r}: {fault}"
            for output in outputs
            for fault in self._reference_faults(output.value)
        ]

    def _reference_faults(self, value: JsonValue) -> Iterator[str]:
        yield from misspelt_reference_faults(value, self.view.memory)
        try:
            resolve_references(value, self.view.memory)
        except Unresolved as error:
            yield str(error)

    def result_of_outputs(self, outputs: Sequence[Output], reason: str) -> AgentResult:
        """Return the outputs with references resolved, after the KPI check."""
        try:
            found = [self._candidate(each) for each in outputs]
        except Unresolved as error:
            return failed_result(str(error))
        return self.weighed(found, reason)

    def weighed(self, candidates: Sequence[EntityCandidate], reason: str) -> AgentResult:
        """Return the result of the KPI check of these values (KPI-07)."""
        found = {each.name: self._with_quote(each) for each in candidates}
        threshold = self.strategy.confidence_threshold
        verdict = check_kpis(self.view.task.expects, found, threshold)
        if verdict.is_success:
            return AgentResult(kept=verdict.kept, confidence=verdict.confidence)
        failure = kpi_failure(verdict, Component.AGENT, reason, threshold or 0.0)
        return AgentResult(failure=failure, confidence=verdict.confidence)

    def _with_quote(self, candidate: EntityCandidate) -> EntityCandidate:
        """Return the candidate with the quote of the last step that found the same value."""
        if candidate.quote or is_missing(candidate.value):
            return candidate
        for step in reversed(self.view.steps):
            names = {n for n, value in step.task.result.items() if value == candidate.value}
            for shown in self.view.quotes.get(step.task.id, ()):
                if names & set(shown.names):
                    return candidate.model_copy(update={"quote": shown.quote})
        return candidate

    def _candidate(self, output: Output) -> EntityCandidate:
        sure = output.confidence
        if sure is None:
            by_id = {
                each.task.id: each.confidence for each in (*self.view.others, *self.view.steps)
            }
            known = [by_id.get(each.task_id) for each in references_in(output.value)]
            sure = min((each for each in known if each is not None), default=1.0)
        name = promised_name(output.name, self.view.task.expects)
        kind = next((each.type for each in self.view.task.expects if each.name == name), None)
        # First, since a resolved text with a quotation mark would break the JSON text around it.
        written = convert_to_type(output.value, kind) if kind else output.value
        value = storable_value(resolve_references(written, self.view.memory))
        return EntityCandidate(name=name, value=value, confidence=sure)


def _confidence_or_full(confidence: float | None) -> float:
    return 1.0 if confidence is None else confidence


def failed_result(why: str, confidence: float | None = None, contradicts: str = "") -> AgentResult:
    """Return the result of an agent that failed."""
    return AgentResult(failure=agent_failure(why), confidence=confidence, contradicts=contradicts)


def agent_failure(why: str) -> Failure:
    """Return the failure of an agent."""
    return Failure(
        component=Component.AGENT,
        failure_class=FailureClass.SEMANTIC,
        message=cut_message(f"The agent did not resolve it: {why}", MessageLimit.FAILURE),
        reason=cut_message(why, MessageLimit.ENTRY),
    )
