"""How far an agent has come: which of its searches found what, and which failed how often."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from models.plan import FINDINGS, Expected
from roles.extractive.agenda import Agenda, inputs_of
from roles.extractive.planning import PASSAGE, Step, reference
from roles.extractive.reasoning import is_raw, read_out, reason
from roles.extractive.text import stems
from roles.node_planner import NodeTask, TraceStep
from roles.reasoner import Given, ReasonerTask
from roles.stepper import Output

_OVER = ("done", "failed")


@dataclass(frozen=True)
class Progress:
    """By hop: the step that found its value, how many steps failed, and what the last one said."""

    found: Mapping[str, TraceStep]
    failures: Mapping[str, int]
    said: Mapping[str, str]
    read: frozenset[str] = frozenset()
    """The hops whose value was read out of what the tool gave as a whole."""

    def open_hops(self, one: Agenda) -> list[Step]:
        """The hops that can be made now."""
        return [
            hop for hop in one.hops
            if hop.id not in self.found and (not hop.after or hop.after in self.found)
        ]  # fmt: skip


def progress_of(one: Agenda, trace: Sequence[TraceStep]) -> Progress:
    """The trace read beside the agenda."""
    found: dict[str, TraceStep] = {}
    failures: Counter[str] = Counter()
    said: dict[str, str] = {}
    read: set[str] = set()
    for step in trace:
        hop = _served(one, step, found) if step.status in _OVER else None
        if hop is None:
            continue
        name = hop.wants[0].name
        value = _value(step, name)
        if isinstance(value, str) and is_raw(value):
            read.add(hop.id)
            value = read_out(Expected(**hop.wants[0].model_dump()), value, hop.about)
        if value is not None:
            found[hop.id] = step.model_copy(update={"found": {**step.found, name: value}})
            continue
        if _value(step, PASSAGE) is not None:
            found[one.hops[-1].id] = step
        # A passage was the last way: if nothing follows from it, no other is left.
        failures[hop.id] += 1
        said[hop.id] = step.failure
    return Progress(found, failures, said, frozenset(read))


def _served(one: Agenda, step: TraceStep, found: Mapping[str, TraceStep]) -> Step | None:
    """The hop that a step was made for: of two that were open the one that it names."""
    ready = Progress(found, {}, {}).open_hops(one)
    holding = [hop for hop in ready if _value(step, hop.wants[0].name) is not None]
    asked = frozenset(stems(step.action))
    named = sorted(ready, key=lambda hop: -_share(hop.about, asked))
    return [*holding, *named][0] if ready else None


def _share(about: str, asked: frozenset[str]) -> float:
    told = frozenset(stems(about))
    return len(told & asked) / len(told) if told else 0.0


def _value(step: TraceStep, name: str) -> JsonValue:
    return step.found.get(name) if step.status == "done" else None


def outputs_of(one: Agenda, task: NodeTask) -> list[Output]:
    """What was promised, as far as steps found it or it follows from them; nothing else."""
    told = _by_reference(task)
    if told or not one.concludes:
        return told
    return _concluded(one, task)


def _by_reference(task: NodeTask) -> list[Output]:
    """The promised values that steps found, if all that are required were found."""
    outputs = []
    for entity in task.expects:
        holder = next(
            (step for step in reversed(task.trace) if _value(step, entity.name) is not None), None
        )
        if holder is not None:
            outputs.append(Output(name=entity.name, value=reference(holder.id, entity.name)))
        elif entity.required:
            return []
    return outputs


def _concluded(one: Agenda, task: NodeTask) -> list[Output]:
    """The conclusion from what the hops found, or from what is given where there are none."""
    inputs = inputs_of(one)
    context: tuple[Given, ...] = ()
    if one.hops:
        steps = progress_of(one, task.trace).found
        held = [(hop, steps[hop.id]) for hop in one.closing if hop.id in steps]
        if len(held) < len(one.closing):
            return []
        inputs = tuple(_first(hop, step) for hop, step in held)
        context = tuple(
            Given(name=name, value=value) for _, step in held for name, value in step.found.items()
        )
    said = reason(
        ReasonerTask(
            question=one.question.text, description=one.question.text, inputs=inputs,
            context=context, outputs=task.expects,
        )
    )  # fmt: skip
    if said.status == "failed":
        return []
    return [
        Output(name=each.name, value=_referred(each.value, task), confidence=each.confidence)
        for each in said.outputs
    ]


def _first(hop: Step, step: TraceStep) -> Given:
    name = hop.wants[0].name
    held = name if step.found.get(name) is not None else PASSAGE
    as_passage = PASSAGE if held == FINDINGS.name else held
    return Given(name=as_passage, value=step.found.get(held))


def _referred(value: JsonValue, task: NodeTask) -> JsonValue:
    """The reference to the step that found the value itself, where one did."""
    for step in reversed(task.trace):
        for name in step.found:
            if step.status == "done" and step.found[name] == value:
                return reference(step.id, name)
    return value
