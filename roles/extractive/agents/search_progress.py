"""Match an agent's steps to the searches of its agenda; collect the expected outputs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from holdfast.models.plans.research_plan import FINDINGS_ENTITY, ExpectedEntity, TaskStatus
from holdfast.models.tasks.agent_role_task import AgentRoleTask, TraceStep
from holdfast.models.tasks.named_value import NamedValue
from holdfast.roles.agents.stepper import Output
from holdfast.roles.extractive.planning.planner_rules import (
    TELLING_PASSAGE,
    SearchStep,
    entity_reference,
)
from holdfast.roles.extractive.planning.search_agenda import SearchAgenda, conclusion_inputs
from holdfast.roles.extractive.tasks.reasoner_rules import (
    is_raw_response,
    read_value,
    reason_by_rules,
)
from holdfast.roles.extractive.text.words_and_sentences import stems
from holdfast.roles.tasks.reasoner import ReasonerTask


@dataclass(frozen=True)
class SearchProgress:
    """By search: the step that found its value, the failures, and the last failure's message."""

    found: Mapping[str, TraceStep]
    failures: Mapping[str, int]
    said: Mapping[str, str]
    read: frozenset[str] = frozenset()
    """The searches whose value was read out of a raw response."""

    def open_searches(self, one: SearchAgenda) -> list[SearchStep]:
        """The searches that can run now."""
        return [
            hop
            for hop in one.searches
            if hop.id not in self.found and (not hop.after or hop.after in self.found)
        ]


def search_progress(one: SearchAgenda, trace: Sequence[TraceStep]) -> SearchProgress:
    """The progress of an agenda's searches, from the trace."""
    found: dict[str, TraceStep] = {}
    failures: Counter[str] = Counter()
    said: dict[str, str] = {}
    read: set[str] = set()
    for step in trace:
        hop = _served(one, step, found) if TaskStatus(step.status).has_run else None
        if hop is None:
            continue
        name = hop.wants[0].name
        value = _value(step, name)
        if isinstance(value, str) and is_raw_response(value):
            read.add(hop.id)
            value = read_value(ExpectedEntity(**hop.wants[0].model_dump()), value, hop.about)
        if value is not None:
            found[hop.id] = step.model_copy(update={"found": {**step.found, name: value}})
            continue
        if _value(step, TELLING_PASSAGE) is not None:
            found[one.searches[-1].id] = step
        # A passage was the last way: if nothing follows from it, no other is left.
        failures[hop.id] += 1
        said[hop.id] = step.failure
    return SearchProgress(found, failures, said, frozenset(read))


def _served(
    one: SearchAgenda, step: TraceStep, found: Mapping[str, TraceStep]
) -> SearchStep | None:
    """The search that a step belongs to; of two open ones the one that the step names."""
    ready = SearchProgress(found, {}, {}).open_searches(one)
    holding = [hop for hop in ready if _value(step, hop.wants[0].name) is not None]
    asked = frozenset(stems(step.action))
    named = sorted(ready, key=lambda hop: -_share(hop.about, asked))
    return [*holding, *named][0] if ready else None


def _share(about: str, asked: frozenset[str]) -> float:
    told = frozenset(stems(about))
    return len(told & asked) / len(told) if told else 0.0


def _value(step: TraceStep, name: str) -> JsonValue:
    return step.found.get(name) if step.status == TaskStatus.DONE else None


def promised_outputs(one: SearchAgenda, task: AgentRoleTask) -> list[Output]:
    """The promised outputs that steps found or that follow from them."""
    told = _by_reference(task)
    if told or not one.concludes:
        return told
    return _concluded(one, task)


def _by_reference(task: AgentRoleTask) -> list[Output]:
    """The promised values that steps found, if all that are required were found."""
    outputs = []
    for entity in task.expects:
        holder = next(
            (step for step in reversed(task.trace) if _value(step, entity.name) is not None), None
        )
        if holder is not None:
            outputs.append(Output(name=entity.name, value=entity_reference(holder.id, entity.name)))
        elif entity.required:
            return []
    return outputs


def _concluded(one: SearchAgenda, task: AgentRoleTask) -> list[Output]:
    """The conclusion from the values found; without searches, from the given values."""
    inputs = conclusion_inputs(one)
    context: tuple[NamedValue, ...] = ()
    if one.searches:
        steps = search_progress(one, task.trace).found
        held = [(hop, steps[hop.id]) for hop in one.closing if hop.id in steps]
        if len(held) < len(one.closing):
            return []
        inputs = tuple(_first(hop, step) for hop, step in held)
        context = tuple(
            NamedValue(name=name, value=value)
            for _, step in held
            for name, value in step.found.items()
        )
    said = reason_by_rules(
        ReasonerTask(
            question=one.question.text,
            description=one.question.text,
            inputs=inputs,
            context=context,
            outputs=task.expects,
        )
    )
    if said.status == "failed":
        return []
    return [
        Output(name=each.name, value=_referred(each.value, task), confidence=each.confidence)
        for each in said.outputs
    ]


def _first(hop: SearchStep, step: TraceStep) -> NamedValue:
    name = hop.wants[0].name
    held = name if step.found.get(name) is not None else TELLING_PASSAGE
    as_passage = TELLING_PASSAGE if held == FINDINGS_ENTITY.name else held
    return NamedValue(name=as_passage, value=step.found.get(held))


def _referred(value: JsonValue, task: AgentRoleTask) -> JsonValue:
    """A reference to the step that found the value; the value itself if none did."""
    for step in reversed(task.trace):
        for name in step.found:
            if step.status == TaskStatus.DONE and step.found[name] == value:
                return entity_reference(step.id, name)
    return value
