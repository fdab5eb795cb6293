"""Turn a loop's proven answer into the result of its agent task."""

from dataclasses import replace

from holdfast.activities.agents.agent_turn_rules import AgentResult, AgentTurn
from holdfast.models.loop.loop_results import LoopResult, ProvenValue
from holdfast.models.plans.research_plan import Task
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.planning.loop.answer_confidence import sentences_confidence
from holdfast.planning.results.kpi_check import EntityCandidate


def agent_result(turn: AgentTurn, result: LoopResult) -> AgentResult:
    """Return the final answer, or what the task promises after its check (KPI-07).

    A loop that answers the whole question and found no answer has worked all the same: its result
    says what is not stated. One that misses a promise has failed, with what is open as its reason.
    """
    task = turn.view.task
    if task.is_opening:
        return _opening_result(task, result)
    if not task.is_final:
        values = [_candidate(each) for each in result.values]
        promised = values if task.promised_values else _account(task, result)
        checked = turn.weighed(promised, _why_open(result))
        return replace(checked, contradicts=result.contradicts)
    if result.confidence is None or not result.follows:
        return AgentResult(confidence=result.confidence)
    answer = EntityValue.of_promise(task.expects[0], result.short, result.confidence)
    return AgentResult(kept=(answer,), confidence=result.confidence)


def _opening_result(task: Task, result: LoopResult) -> AgentResult:
    """Return the proven sentences: what is planned after the loop may build on them."""
    confidence = sentences_confidence(result)
    kept: tuple[EntityValue, ...] = ()
    if confidence is not None:
        kept = (EntityValue.of_promise(task.expects[0], _sentences(result), confidence),)
    return AgentResult(kept=kept, confidence=confidence, is_answered=result.handover is None)


def _account(task: Task, result: LoopResult) -> list[EntityCandidate]:
    """The proven sentences, if the task promises an account and no values."""
    confidence = sentences_confidence(result)
    if confidence is None or not task.expects:
        return []
    name = task.expects[0].name
    return [EntityCandidate(name=name, value=_sentences(result), confidence=confidence)]


def _sentences(result: LoopResult) -> str:
    return "\n".join(each.text for each in result.sentences)


def _candidate(each: ProvenValue) -> EntityCandidate:
    quote = each.quotes[0].quote if each.quotes else ""
    return EntityCandidate(
        name=each.name, value=each.value, confidence=each.confidence, quote=quote
    )


def _why_open(result: LoopResult) -> str:
    """What is open, and why values were refused: the explanation of a failure (KPI-11)."""
    refused = [f"{each.name}: {each.why_refused}" for each in result.values if each.why_refused]
    return "; ".join([*refused, *result.open])
