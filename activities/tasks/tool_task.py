"""Run a tool task: call one MCP tool and extract the promised entities from its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import JsonValue

from holdfast.activities.runtime.bounded_gather import gather_bounded
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.activities.runtime.task_outcome import (
    TaskOutcome,
    invalid_answer_failure,
    outcome_of_error,
)
from holdfast.activities.runtime.text_similarity import TextSimilarity
from holdfast.activities.runtime.tool_call import ToolCaller, ToolCallResult
from holdfast.activities.tasks.argument_grounding import ArgumentGrounder, GroundedArguments
from holdfast.models.calls.tool_signatures import SourcePassage, ToolAnswer
from holdfast.models.errors import FailureClass, OutcomeUnknown, ToolFailed
from holdfast.models.evidence.evidence import LocatedQuote
from holdfast.models.jobs.activity_orders import TaskOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.research_plan import ExpectedEntity, Task
from holdfast.models.tasks.named_value import NamedValue
from holdfast.models.tasks.task_failure import NOTHING_FOUND, Component, Failure
from holdfast.models.text.storable_text import storable_value
from holdfast.models.wire import call_places
from holdfast.planning.loop.loop_tasks import is_step_of_loop
from holdfast.planning.reports.sentence_support import unsupported_parts
from holdfast.planning.results.chunk_candidates import chosen_candidates
from holdfast.planning.results.entity_names import EntityNameCheck, promised_name
from holdfast.planning.results.kpi_check import (
    EntityCandidate,
    KpiVerdict,
    check_kpis,
)
from holdfast.planning.results.kpi_failure import kpi_failure
from holdfast.planning.text.passage_chunks import split_into_chunks
from holdfast.planning.text.quote_location import covering_sentences, locate_values
from holdfast.roles.dialogue.model_dialogue import DialogueResult
from holdfast.roles.tasks.extractor import EXTRACTOR, ExtractorAnswer, ExtractorTask, Fragment
from holdfast.tools.mcp.tool_hub import Hub

_CHUNKS_AT_ONCE = 4
_UNSHOWN_CONFIDENCE = 0.5
"""The confidence limit of an entity whose quote and value are not in the response."""
_DIRECT_EVIDENCE = 3
RESULT_ENTITY = ExpectedEntity(name="result", description="what the tool returned")


@dataclass(frozen=True)
class ToolTaskContext:
    """What a tool task works with."""

    hub: Hub
    model_caller: ModelCaller
    request: JobRequest
    order: TaskOrder
    similarity: TextSimilarity | None = None


async def run_tool_task(
    work: ToolTaskContext,
    task: Task,
    inputs: tuple[NamedValue, ...],
    context: tuple[NamedValue, ...],
) -> TaskOutcome:
    """The outcome of one tool call: entities that passed the KPI check, or the failure.

    Raises:
        Lasting: the tool has no argument of a given name, and was not called.
    """
    written = {item.name: item.value for item in inputs}
    grounded = await ArgumentGrounder(
        work.model_caller, work.hub, _call_facts(work), task.tool, work.similarity
    ).ground(written)
    try:
        called = await _call(work, task, grounded)
    except (ToolFailed, OutcomeUnknown) as error:
        return grounded.add_to(outcome_of_error(error, Component.TOOL))
    outcome = await _outcome_of_call(work, task, called, context)
    return grounded.add_to(outcome.with_note(called.note))


async def _call(work: ToolTaskContext, task: Task, grounded: GroundedArguments) -> ToolCallResult:
    """The tool's answer, with notes on a repetition and on replaced arguments.

    Raises:
        ToolFailed: the tool answered with an error, or refuses a repetition.
        OutcomeUnknown: the call may have been made, and is not safe to repeat.
    """
    is_of_loop = is_step_of_loop(task, work.request.strategy)
    caller = _tool_caller(work, refuses_repeats=not is_of_loop)
    called = await caller.call(task.tool, grounded.arguments)
    return called.with_note(grounded.note)


async def _outcome_of_call(
    work: ToolTaskContext, task: Task, called: ToolCallResult, context: tuple[NamedValue, ...]
) -> TaskOutcome:
    if is_step_of_loop(task, work.request.strategy):
        return _outcome_for_transcript(called.answer)
    if _is_empty(called.answer):
        return TaskOutcome(failure=_empty_answer_failure(task))
    strategy = work.request.strategy
    if strategy.extraction:
        return await _outcome_of_extraction(work, task, called, context)
    if task.parent and not _has_promised(task, called.answer):
        # The agent reads the text itself: no step has to give a part of it under a name.
        task = task.model_copy(update={"expects": (RESULT_ENTITY,)})
    if not _is_long_reading(called.answer, strategy.extract_above):
        return _outcome_without_extraction(work, task, called.answer)
    return await _outcome_of_extraction(work, _with_expected_answer(task), called, context)


def _tool_caller(work: ToolTaskContext, *, refuses_repeats: bool = True) -> ToolCaller:
    return ToolCaller(
        ledger=work.model_caller.ledger,
        hub=work.hub,
        job_id=work.order.job_id,
        task_id=work.order.task_id,
        attempt=work.order.attempt,
        facts=_call_facts(work),
        timeout=work.request.strategy.tool_timeout,
        max_identical_calls=work.request.strategy.max_identical_calls,
        refuses_repeats=refuses_repeats,
    )


def _call_facts(work: ToolTaskContext) -> dict[str, str]:
    return {"collection": work.request.collection, "job": work.order.job_id}


def _is_empty(answer: ToolAnswer) -> bool:
    """True if the answer has no text, or is an empty list or a result without passages."""
    content = answer.structured
    if content is None:
        return not answer.text.strip()
    if isinstance(content, dict) and content.get("passages") == []:
        return True  # a search may give a note with them, which is no finding
    return content in ([], {}, "", {"result": []})


def _is_long_reading(answer: ToolAnswer, most: int | None) -> bool:
    """True if the answer is passages of documents with more than `most` characters."""
    is_reading = isinstance(answer.structured, dict) and "passages" in answer.structured
    length = sum(len(passage.text) for passage in answer.passages)
    return most is not None and is_reading and length > most


def _has_promised(task: Task, answer: ToolAnswer) -> bool:
    """True if the result can be the task's entities without an extractor."""
    required = [each.name for each in task.expects if each.required]
    structured = answer.structured if isinstance(answer.structured, dict) else {}
    return len(required) <= 1 or all(name in structured for name in required)


def _with_expected_answer(task: Task) -> Task:
    """The task with a short answer as its entity, if its planner promised none."""
    answer = RESULT_ENTITY.model_copy(update={"description": task.description})
    return task if task.expects else task.model_copy(update={"expects": (answer,)})


def _empty_answer_failure(task: Task) -> Failure:
    return Failure(
        component=Component.TOOL,
        failure_class=FailureClass.TOOL,
        message=f"{task.tool} {NOTHING_FOUND}; try others, or another tool.",
        missing=tuple(entity.name for entity in task.expects if entity.required),
    )


def _outcome_for_transcript(answer: ToolAnswer) -> TaskOutcome:
    """The outcome of a loop's call: the transcript shows the passages, and evidence comes later.

    Also where nothing was found: the agent sees that, and decides what follows.
    """
    count = len(answer.passages)
    summary = f"{count} passage{'' if count == 1 else 's'}" if count else "nothing found"
    return TaskOutcome(read=answer.passages, trace={"summary": summary})


def _outcome_without_extraction(
    work: ToolTaskContext, task: Task, answer: ToolAnswer
) -> TaskOutcome:
    """The tool's result as the task's entities, for strategies without an extractor."""
    expects = task.expects or (RESULT_ENTITY,)
    candidates = {each.name: _direct_candidate(each, expects, answer) for each in expects}
    verdict = check_kpis(expects, candidates, work.request.strategy.confidence_threshold)
    if not verdict.is_success:
        reason = "the tool's result has no such value"
        failure = kpi_failure(verdict, Component.TOOL, reason, 0.0)
        return TaskOutcome(failure=failure, confidence=verdict.confidence, read=answer.passages)
    quotes = covering_sentences(
        expects[0].name, task.description, answer.passages, _DIRECT_EVIDENCE
    )
    return TaskOutcome(
        kept=verdict.kept,
        confidence=verdict.confidence,
        read=answer.passages,
        found=tuple(quotes),
    )


def _direct_candidate(
    entity: ExpectedEntity, expects: Sequence[ExpectedEntity], answer: ToolAnswer
) -> EntityCandidate:
    value: JsonValue = None
    if isinstance(answer.structured, dict) and entity.name in answer.structured:
        value = answer.structured[entity.name]
    elif entity.required and sum(each.required for each in expects) == 1:
        value = _whole_answer(entity, answer)
    return EntityCandidate(name=entity.name, value=storable_value(value), confidence=1.0)


def _whole_answer(entity: ExpectedEntity, answer: ToolAnswer) -> JsonValue:
    if entity.type.value == "string" or answer.structured is None:
        return "\n\n".join(passage.text for passage in answer.passages) or answer.text
    value: JsonValue = answer.structured
    return value


async def _outcome_of_extraction(
    work: ToolTaskContext,
    task: Task,
    called: ToolCallResult,
    context: tuple[NamedValue, ...],
) -> TaskOutcome:
    answers, faults = await _ask_extractor(work, task, called, context)
    if not answers:
        return TaskOutcome(
            failure=invalid_answer_failure(Component.EXTRACTOR, faults), read=called.answer.passages
        )
    strategy = work.request.strategy
    threshold = strategy.confidence_threshold
    # Where no threshold refuses a low confidence, a value that was made up is dropped instead.
    drops_unshown = threshold is None and not strategy.extraction
    shown = [
        _locate_quotes(each, called.answer.passages, task.description, drops_unshown=drops_unshown)
        for each in _extracted_candidates(answers, task.expects)
    ]
    chosen = chosen_candidates([candidate for candidate, _ in shown], task.expects, threshold)
    best = {name: each.candidate for name, each in chosen.items()}
    read = called.answer.passages
    unknown = [name for each in best.values() for name in _unknown_elements(each.value, read)]
    said = [answer.summary for answer in answers if answer.summary]
    said += [f"Not in the response: {', '.join(unknown)}."] if unknown else []
    summary = " ".join(said)[:4000]
    verdict = check_kpis(task.expects, best, threshold)
    quotes: dict[str, list[LocatedQuote]] = {}
    for candidate, found in shown:
        if candidate in chosen[candidate.name].parts:
            of_entity = quotes.setdefault(candidate.name, [])
            of_entity += [each for each in found if each not in of_entity]
    return _outcome_of_verdict(verdict, read, quotes, summary, threshold or 0.0)


def _outcome_of_verdict(
    verdict: KpiVerdict,
    read: tuple[SourcePassage, ...],
    quotes: Mapping[str, Sequence[LocatedQuote]],
    summary: str,
    threshold: float,
) -> TaskOutcome:
    trace = {"summary": summary}
    if not verdict.is_success:
        verdict = verdict.with_quotes(quotes)
        failure = kpi_failure(verdict, Component.EXTRACTOR, summary, threshold)
        return TaskOutcome(failure=failure, confidence=verdict.confidence, read=read, trace=trace)
    kept = {entity.name for entity in verdict.kept}
    return TaskOutcome(
        kept=verdict.kept,
        confidence=verdict.confidence,
        read=read,
        found=tuple(quote for name in quotes if name in kept for quote in quotes[name]),
        trace=trace,
    )


async def _ask_extractor(
    work: ToolTaskContext,
    task: Task,
    called: ToolCallResult,
    context: tuple[NamedValue, ...],
) -> tuple[list[ExtractorAnswer], tuple[str, ...]]:
    """Ask the extractor for each chunk in parallel; return its answers and the faults of one."""
    pieces = _passage_chunks(called.answer.passages, work.request.strategy.chunk_tokens)
    if len(pieces) > 1:
        await work.model_caller.ledger.disable_deferral()

    async def read(number: int, piece: Sequence[SourcePassage]) -> DialogueResult[ExtractorAnswer]:
        job = ExtractorTask(
            description=task.description,
            arguments=called.arguments,
            entities=task.expects,
            response=tuple(_fragment(passage) for passage in piece),
            least_confidence=work.request.strategy.confidence_threshold,
            context=context,
            note=called.note,
        )
        names = EntityNameCheck(task.expects, "entities")

        def check(answer: ExtractorAnswer) -> Sequence[str]:
            written = [each.name for each in answer.entities]
            # A part of a longer response often holds only some of the entities.
            return names.faults(written) if len(pieces) == 1 else names.unknown_names(written)

        place = call_places.chunk_place(number, len(pieces))
        return await work.model_caller.ask(EXTRACTOR, job, place=place, check=check)

    reads = [partial(read, number, piece) for number, piece in enumerate(pieces, start=1)]
    dialogues = await gather_bounded(reads, at_once=_CHUNKS_AT_ONCE)
    faults = next((dialogue.faults for dialogue in dialogues if dialogue.answer is None), ())
    answers = [dialogue.answer for dialogue in dialogues if dialogue.answer is not None]
    return answers, faults


def _passage_chunks(
    passages: tuple[SourcePassage, ...], limit: int
) -> Sequence[tuple[SourcePassage, ...]]:
    # No text has more tokens than characters, and counting tokens takes 1 ms for 2 KB.
    if passages and sum(max(1, len(passage.text)) for passage in passages) <= limit:
        return (passages,)
    return split_into_chunks(passages, limit)


def _fragment(passage: SourcePassage) -> Fragment:
    return Fragment(
        address="" if passage.address.startswith("tool:") else passage.address,
        title=passage.title,
        heading=passage.heading,
        text=passage.text,
    )


def _extracted_candidates(
    answers: Sequence[ExtractorAnswer], expects: Sequence[ExpectedEntity]
) -> list[EntityCandidate]:
    return [
        EntityCandidate(
            name=promised_name(each.name, expects),
            value=storable_value(each.value),
            confidence=answer.confidence if each.confidence is None else each.confidence,
            quote=each.quote,
            more_quotes=tuple(each.more_quotes),
        )
        for answer in answers
        for each in answer.entities
    ]


def _locate_quotes(
    candidate: EntityCandidate,
    passages: Sequence[SourcePassage],
    about: str,
    *,
    drops_unshown: bool,
) -> tuple[EntityCandidate, tuple[LocatedQuote, ...]]:
    """Locate what shows the candidate; cap its confidence, or drop it, if the response does not.

    The model made up a quote that is not in the response, and a value that is not there either; or
    a name in a list, of which its one quote shows another element.
    """
    value = candidate.value
    found = locate_values(
        candidate.name, value, candidate.quote, passages, about, more=candidate.more_quotes
    )
    is_unshown = not found and bool(candidate.quote) and value is not None
    if is_unshown or _unknown_elements(value, passages):
        least = min(candidate.confidence, _UNSHOWN_CONFIDENCE)
        kept = None if drops_unshown else value
        candidate = candidate.model_copy(update={"confidence": least, "value": kept})
    return candidate, found


def _unknown_elements(value: JsonValue, passages: Sequence[SourcePassage]) -> list[str]:
    """Return the elements of a list that have a name or a number which is in no passage."""
    if not isinstance(value, list):
        return []
    texts = [f"{each.title}\n{each.text}" for each in passages]
    return [each for each in value if isinstance(each, str) and unsupported_parts(each, texts, [])]
