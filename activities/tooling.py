"""A tool task: one MCP call, then the promised entities are read out of what came back."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import JsonValue

from activities.asking import Desk
from activities.calling import Bench, Called
from activities.grounding import Grounded, Grounding
from activities.outcomes import Outcome, failed_with
from activities.together import side_by_side
from models.errors import FailureClass, OutcomeUnknown, ToolFailed
from models.evidence import Located
from models.failures import Component, Failure
from models.jobs import JobRequest
from models.orders import TaskOrder
from models.plan import Expected, Task
from models.tools import ReadPassage, ToolAnswer
from planning.chunks import chunks
from planning.feedback import kpi_failure
from planning.kpis import Candidate, Verdict, best_of, judge
from planning.quotes import best_sentences, locate
from planning.values import storable
from roles.dialogue import Asked
from roles.extractor import EXTRACTOR, ExtractorAnswer, ExtractorTask, Fragment
from roles.reasoner import Given
from tools.hub import Hub

_CHUNKS_AT_ONCE = 4
_UNSHOWN_CONFIDENCE = 0.5
"""The most an extraction is trusted whose quote and value stand nowhere in the response."""
_DIRECT_EVIDENCE = 3
RESULT = Expected(name="result", description="what the tool returned")


@dataclass(frozen=True)
class ToolWork:
    """What a tool task works with."""

    hub: Hub
    desk: Desk
    request: JobRequest
    order: TaskOrder


async def use_tool(
    work: ToolWork, task: Task, inputs: tuple[Given, ...], context: tuple[Given, ...]
) -> Outcome:
    """What the tool's answer yields: entities that passed the KPI check, or the failure.

    Raises:
        Lasting: the tool does not know an argument, and was not called.
    """
    written = {given.name: given.value for given in inputs}
    grounded = await Grounding(work.desk, work.hub, _facts(work), task.tool).ground(written)
    try:
        outcome = await _used(work, task, grounded, context)
    except (ToolFailed, OutcomeUnknown) as error:
        outcome = failed_with(error, Component.TOOL)
    return grounded.told_in(outcome)


async def _used(
    work: ToolWork, task: Task, grounded: Grounded, context: tuple[Given, ...]
) -> Outcome:
    arguments = grounded.arguments
    called = (await _bench(work).call(task.tool, arguments)).noting(grounded.note)
    if _is_empty(called.answer):
        return Outcome(failure=_nothing_found(task))
    if not work.request.strategy.extraction:
        return _direct(work, task, called.answer)
    return await _extracted(work, task, called, arguments, context)


def _bench(work: ToolWork) -> Bench:
    return Bench(
        ledger=work.desk.ledger,
        hub=work.hub,
        job_id=work.order.job_id,
        task_id=work.order.task_id,
        attempt=work.order.attempt,
        facts=_facts(work),
        timeout=work.request.strategy.tool_timeout,
        most_identical=work.request.strategy.max_identical_calls,
    )


def _facts(work: ToolWork) -> dict[str, str]:
    return {"collection": work.request.collection, "job": work.order.job_id}


def _is_empty(answer: ToolAnswer) -> bool:
    """Whether nothing came back: no text, an empty list, or a result without passages."""
    if answer.structured in ([], {}, "", {"result": []}, {"passages": []}):
        return True
    return not answer.text.strip() and answer.structured is None


def _nothing_found(task: Task) -> Failure:
    return Failure(
        component=Component.TOOL,
        failure_class=FailureClass.TOOL,
        message=f"{task.tool} found nothing for these arguments; try others, or another tool.",
        missing=tuple(entity.name for entity in task.expects if entity.required),
    )


def _direct(work: ToolWork, task: Task, answer: ToolAnswer) -> Outcome:
    """Without an extractor the tool's result itself is what later steps refer to."""
    expects = task.expects or (RESULT,)
    candidates = {each.name: _taken(each, expects, answer) for each in expects}
    verdict = judge(expects, candidates, work.request.strategy.confidence_threshold)
    if not verdict.is_success:
        reason = "the tool's result has no such value"
        failure = kpi_failure(verdict, Component.TOOL, reason, 0.0)
        return Outcome(failure=failure, confidence=verdict.confidence, read=answer.passages)
    found = best_sentences(expects[0].name, task.description, answer.passages, _DIRECT_EVIDENCE)
    return Outcome(
        kept=verdict.kept,
        confidence=verdict.confidence,
        read=answer.passages,
        found=tuple(found),
    )


def _taken(entity: Expected, expects: Sequence[Expected], answer: ToolAnswer) -> Candidate:
    value: JsonValue = None
    if isinstance(answer.structured, dict) and entity.name in answer.structured:
        value = answer.structured[entity.name]
    elif entity.required and sum(each.required for each in expects) == 1:
        value = _whole(entity, answer)
    return Candidate(name=entity.name, value=storable(value), confidence=1.0)


def _whole(entity: Expected, answer: ToolAnswer) -> JsonValue:
    if entity.type.value == "string" or answer.structured is None:
        return "\n\n".join(passage.text for passage in answer.passages) or answer.text
    value: JsonValue = answer.structured
    return value


async def _extracted(
    work: ToolWork,
    task: Task,
    called: Called,
    arguments: dict[str, JsonValue],
    context: tuple[Given, ...],
) -> Outcome:
    answers, faults = await _ask_extractor(work, task, called, arguments, context)
    if not answers:
        return Outcome(failure=_unreadable(faults), read=called.answer.passages)
    shown = [_shown(each, called.answer.passages) for each in _candidates(answers)]
    best = best_of(candidate for candidate, _ in shown)
    summary = " ".join(answer.summary for answer in answers if answer.summary)[:4000]
    threshold = work.request.strategy.confidence_threshold
    verdict = judge(task.expects, best, threshold)
    return _concluded(verdict, called.answer.passages, shown, summary, threshold or 0.0)


def _concluded(
    verdict: Verdict,
    read: tuple[ReadPassage, ...],
    shown: Sequence[tuple[Candidate, Located | None]],
    summary: str,
    threshold: float,
) -> Outcome:
    trace = {"summary": summary}
    if not verdict.is_success:
        failure = kpi_failure(verdict, Component.EXTRACTOR, summary, threshold)
        return Outcome(failure=failure, confidence=verdict.confidence, read=read, trace=trace)
    kept = {(each.name, each.quote) for each in verdict.kept}
    found = {each.name: at for each, at in shown if at and (each.name, each.quote) in kept}
    return Outcome(
        kept=verdict.kept,
        confidence=verdict.confidence,
        read=read,
        found=tuple(found.values()),
        trace=trace,
    )


async def _ask_extractor(
    work: ToolWork,
    task: Task,
    called: Called,
    arguments: dict[str, JsonValue],
    context: tuple[Given, ...],
) -> tuple[list[ExtractorAnswer], tuple[str, ...]]:
    """The answers of the extractor, chunk by chunk and side by side, with the last faults."""
    pieces = _pieces(called.answer.passages, work.request.strategy.chunk_tokens)
    if len(pieces) > 1:
        await work.desk.ledger.write_at_once()

    async def read(number: int, piece: Sequence[ReadPassage]) -> Asked[ExtractorAnswer]:
        job = ExtractorTask(
            description=task.description,
            arguments=arguments,
            entities=task.expects,
            response=tuple(_fragment(passage) for passage in piece),
            context=context,
            note=called.note,
        )
        place = f"chunk{number}" if len(pieces) > 1 else ""
        return await work.desk.ask(EXTRACTOR, job, place=place)

    reads = [partial(read, number, piece) for number, piece in enumerate(pieces, start=1)]
    asked = await side_by_side(reads, at_once=_CHUNKS_AT_ONCE)
    faults = next((each.faults for each in asked if each.answer is None), ())
    return [each.answer for each in asked if each.answer is not None], faults


def _pieces(passages: tuple[ReadPassage, ...], limit: int) -> Sequence[tuple[ReadPassage, ...]]:
    # No text has more tokens than characters, and counting tokens takes 1 ms for 2 KB.
    if passages and sum(max(1, len(passage.text)) for passage in passages) <= limit:
        return (passages,)
    return chunks(passages, limit)


def _fragment(passage: ReadPassage) -> Fragment:
    return Fragment(
        address="" if passage.address.startswith("tool:") else passage.address,
        title=passage.title,
        heading=passage.heading,
        text=passage.text,
    )


def _candidates(answers: Sequence[ExtractorAnswer]) -> list[Candidate]:
    return [
        Candidate(
            name=each.name,
            value=storable(each.value),
            confidence=answer.confidence if each.confidence is None else each.confidence,
            quote=each.quote,
        )
        for answer in answers
        for each in answer.entities
    ]


def _shown(
    candidate: Candidate, passages: Sequence[ReadPassage]
) -> tuple[Candidate, Located | None]:
    """The candidate with where it stands; one that stands nowhere is trusted less.

    A quote that is not in the response was not copied from it, and a value that is not there
    either is the model's own.
    """
    found = locate(candidate.name, candidate.value, candidate.quote, passages)
    if found is None and candidate.quote and candidate.value is not None:
        least = min(candidate.confidence, _UNSHOWN_CONFIDENCE)
        return candidate.model_copy(update={"confidence": least}), None
    return candidate, found


def _unreadable(faults: tuple[str, ...]) -> Failure:
    return Failure(
        component=Component.EXTRACTOR,
        failure_class=FailureClass.SEMANTIC,
        message=f"The extractor gave no valid answer: {'; '.join(faults)}"[:4000],
    )
