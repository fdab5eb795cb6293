"""Turn a loop's proven answer into the result of its agent task."""

from holdfast.activities.agents.agent_turn_rules import AgentResult, AgentTurn
from holdfast.models.loop.loop_results import LoopResult
from holdfast.models.plans.research_plan import Task
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.planning.loop.answer_confidence import sentences_confidence
from holdfast.planning.results.kpi_check import EntityCandidate


def agent_result(turn: AgentTurn, result: LoopResult) -> AgentResult:
    """Return the final answer, or the promised values after their check (KPI-07).

    A loop that found no answer has worked all the same: its result says what is not stated.
    """
    task = turn.view.task
    if task.is_opening:
        return _opening_result(task, result)
    if not task.is_final:
        return turn.weighed(_candidates(result), "; ".join(result.open))
    if result.confidence is None or not result.follows:
        return AgentResult(confidence=result.confidence)
    answer = EntityValue.of_promise(task.expects[0], result.short, result.confidence)
    return AgentResult(kept=(answer,), confidence=result.confidence)


def _opening_result(task: Task, result: LoopResult) -> AgentResult:
    """Return the proven sentences: what is planned after the loop may build on them."""
    confidence = sentences_confidence(result)
    kept: tuple[EntityValue, ...] = ()
    if confidence is not None:
        text = "\n".join(each.text for each in result.sentences)
        kept = (EntityValue.of_promise(task.expects[0], text, confidence),)
    return AgentResult(kept=kept, confidence=confidence, is_answered=result.handover is None)


def _candidates(result: LoopResult) -> list[EntityCandidate]:
    return [
        EntityCandidate(
            name=each.name,
            value=each.value,
            confidence=each.confidence,
            quote=each.quotes[0].quote if each.quotes else "",
        )
        for each in result.values
    ]
