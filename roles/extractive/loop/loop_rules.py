"""Loop agent by rules: search for each hop of the question, then answer with the sentences found.

The rules of the stepper choose the searches, and the rules of the extractor read each search's
passages; a search with its value is a step of the trace that the stepper sees.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from holdfast.models.calls.function_calls import FunctionCall, FunctionCalls
from holdfast.models.calls.model_requests import ModelRequest
from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.errors import Unresolved
from holdfast.models.jobs.follow_up import without_context
from holdfast.models.loop.loop_functions import ANSWER, MAX_QUERY_CHARS, MOST_QUERIES, SEARCH
from holdfast.models.loop.loop_messages import RefusalMessage, ShownPassage
from holdfast.models.plans.research_plan import FINAL_ANSWER, ExpectedEntity
from holdfast.models.tasks.agent_role_task import AgentRoleTask, TraceStep
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.plans.entity_references import resolve_references
from holdfast.roles.agents.stepper import DraftCall, Output, StepperAnswer
from holdfast.roles.extractive.agents.stepper_rules import next_step
from holdfast.roles.extractive.extraction.extractor_rules import extract
from holdfast.roles.extractive.loop.loop_dialogue import LoopDialogue, read_dialogue
from holdfast.roles.extractive.questions.declined_questions import unanswered_part, why_declined
from holdfast.roles.tasks.extractor import Extracted, ExtractorTask, Fragment

_NODE = "T1"
_SURE = 0.7
"""The least confidence of a value that the next hop may rest on."""
_SEARCH_TOOL = ToolSignature(
    name=SEARCH,
    description="Search the collection.",
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
)
_FINAL = ExpectedEntity(
    name=FINAL_ANSWER, description="the answer to the question, short and in the form it asks for"
)


@dataclass(frozen=True)
class ReadStep:
    """A search that was read: the trace's step, and the quotes of its values."""

    step: TraceStep
    shown: tuple[tuple[Extracted, int], ...]
    """Each value with the number of the passage that has its quote."""


def play_loop(request: ModelRequest) -> FunctionCalls:
    """Return the next searches, or the answer.

    Raises:
        ModelUnusable: the messages are not those of a loop.
    """
    dialogue = read_dialogue(request.messages)
    if dialogue.refusal is not None and dialogue.last_reply is not None:
        return _without_refused(dialogue.last_reply, dialogue.refusal)
    can_search = any(each.name == SEARCH for each in request.functions)
    steps = _read_steps(dialogue, can_search=can_search)
    said = next_step(_role_task(dialogue, steps, can_search=can_search))
    if said.calls:
        return _searches(said.calls, steps)
    return _answer(dialogue, said, steps)


def _role_task(
    dialogue: LoopDialogue, steps: Sequence[ReadStep], *, can_search: bool
) -> AgentRoleTask:
    task = dialogue.task
    return AgentRoleTask(
        node=_NODE,
        specification=without_context(task.question),
        expects=task.expects or (_FINAL,),
        given=task.given,
        instructions=task.instructions,
        tools=(_SEARCH_TOOL,) if can_search else (),
        trace=tuple(each.step for each in steps),
        must_end=dialogue.must_answer,
    )


def _read_steps(dialogue: LoopDialogue, *, can_search: bool) -> list[ReadStep]:
    """Return each search with what the extractor reads in its passages."""
    steps: list[ReadStep] = []
    wanted = next_step(_role_task(dialogue, steps, can_search=can_search)).calls
    for call in wanted:
        step = _read(call, dialogue.first, len(steps) + 1)
        if step.step.status == "done":  # else the search for this hop is still to be made
            steps.append(step)
    for turn in dialogue.turns:
        wanted = next_step(_role_task(dialogue, steps, can_search=can_search)).calls
        for call, result in zip(wanted, turn, strict=False):
            steps.append(_read(call, result.passages, len(steps) + 1))
    return steps


def _read(call: DraftCall, passages: Sequence[ShownPassage], number: int) -> ReadStep:
    task = ExtractorTask(
        description=call.description,
        arguments={each.name: each.value for each in call.inputs},
        entities=tuple(ExpectedEntity(**each.model_dump()) for each in call.expects),
        response=tuple(_fragment(each) for each in passages),
    )
    answer = extract(task, keeps_doubtful=False)
    found = {each.name: each for each in answer.entities if each.value is not None}
    is_done = all(
        each.name in found and _confidence(found[each.name]) >= _SURE
        for each in call.expects
        if each.required
    )
    shown = tuple(
        (each, number_of)
        for each in found.values()
        if (number_of := _passage_of(each.quote, passages)) is not None
    )
    step = TraceStep(
        id=f"{_NODE}.{number}",
        action=f"search({', '.join(value_as_text(each.value) for each in call.inputs)})",
        status="done" if is_done else "failed",
        found={name: each.value for name, each in found.items()} if is_done else {},
        failure="" if is_done else answer.summary,
    )
    return ReadStep(step, shown if is_done else ())


def _fragment(passage: ShownPassage) -> Fragment:
    title, _, heading = passage.title.partition(" > ")
    return Fragment(title=title, heading=heading, text=passage.text)


def _confidence(found: Extracted) -> float:
    return 0.0 if found.confidence is None else found.confidence


def _passage_of(quote: str, passages: Iterable[ShownPassage]) -> int | None:
    return next((each.n for each in passages if quote and quote in each.text), None)


def _searches(calls: Sequence[DraftCall], steps: Sequence[ReadStep]) -> FunctionCalls:
    memory = {each.step.id: each.step.found for each in steps}
    queries = [_query(call, memory)[:MAX_QUERY_CHARS] for call in calls[:MOST_QUERIES]]
    return FunctionCalls(calls=[FunctionCall(name=SEARCH, arguments={"queries": [*queries]})])


def _query(call: DraftCall, memory: dict[str, dict[str, JsonValue]]) -> str:
    value = next(iter(call.inputs)).value
    try:
        return value_as_text(resolve_references(value, memory))
    except Unresolved:
        return call.description


def _answer(
    dialogue: LoopDialogue, said: StepperAnswer, steps: Sequence[ReadStep]
) -> FunctionCalls:
    question = without_context(dialogue.task.question)
    declined, second = why_declined(question), unanswered_part(question)
    values = {} if declined else _values(said.outputs, steps)
    sentences = [_sentence(each, number) for step in steps for each, number in step.shown]
    unique = {sentence["text"]: sentence for sentence in sentences}
    is_final = not dialogue.task.expects
    short = value_as_text(next(iter(values.values()))) if values and is_final else ""
    found_nothing = declined or said.give_up or "The passages do not show it."
    arguments: dict[str, JsonValue] = {
        "short": short if unique else "",
        "sentences": [*unique.values()] if values else [],
        "open": [*(() if values and unique else (found_nothing,)), *filter(None, (second,))],
    }
    if not is_final:
        arguments["values"] = [_promised(name, value, steps) for name, value in values.items()]
    return FunctionCalls(calls=[FunctionCall(name=ANSWER, arguments=arguments)])


def _values(outputs: Sequence[Output], steps: Sequence[ReadStep]) -> dict[str, JsonValue]:
    memory = {each.step.id: each.step.found for each in steps}
    try:
        return {each.name: resolve_references(each.value, memory) for each in outputs}
    except Unresolved:
        return {}


def _sentence(found: Extracted, number: int) -> dict[str, JsonValue]:
    quote = " ".join(found.quote.split())
    return {"text": f"“{quote}”", "cites": [{"passage": number, "quote": found.quote}]}


def _promised(name: str, value: JsonValue, steps: Sequence[ReadStep]) -> dict[str, JsonValue]:
    shown = [(each, number) for step in steps for each, number in step.shown if each.value == value]
    cites: list[JsonValue] = [{"passage": n, "quote": each.quote} for each, n in shown]
    sure = min((_confidence(each) for each, _ in shown), default=_SURE)
    return {"name": name, "value": value, "cites": cites, "confidence": sure}


def _without_refused(reply: FunctionCalls, refusal: RefusalMessage) -> FunctionCalls:
    """Return the answer without the sentences that were refused: rules know no better words."""
    refused = {each.sentence for each in refusal.refused}
    arguments = dict(reply.calls[0].arguments)
    sentences = arguments.get("sentences")
    if isinstance(sentences, list):
        arguments["sentences"] = [
            each for n, each in enumerate(sentences, start=1) if n not in refused
        ]
    return FunctionCalls(calls=[FunctionCall(name=ANSWER, arguments=arguments)])
