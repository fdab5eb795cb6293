"""The reasoner by rules: compares, selects, intersects, or passes a value through."""

from collections.abc import Sequence

from models.plan import Expected
from roles.extractive.candidates import Candidate
from roles.extractive.extraction import extract
from roles.extractive.lexicon import Kind
from roles.extractive.planning import PASSAGE, asked, steps_for
from roles.extractive.questions import Question, Shape, analyse
from roles.extractive.text import stems
from roles.extractive.verdicts import Conclusion, both, check, choose, common
from roles.extractive.wanted import is_known
from roles.extractor import ExtractorTask, Fragment
from roles.reasoner import Concluded, Given, ReasonerAnswer, ReasonerTask


def reason(task: ReasonerTask) -> ReasonerAnswer:
    """The outputs, concluded from the inputs alone."""
    given = [each for each in (*task.inputs, *task.context) if each.value not in (None, "", [])]
    missing = [each.name for each in task.inputs if each.value in (None, "", [])]
    if not given or (missing and len(missing) == len(task.inputs)):
        return _failed(task, "No value was found for: " + (", ".join(missing) or "any input"))
    is_final = [each.name for each in task.outputs] == ["final_answer"]
    question = analyse(task.question if is_final else task.description)
    value, sure, step = _conclude(question, _asked_first(question, task) or given)
    if value is None:
        return _failed(task, step)
    outputs = [Concluded(name=each.name, value=value, confidence=sure) for each in task.outputs]
    return ReasonerAnswer(reasoning_steps=[step], status="completed", outputs=outputs)


def _failed(task: ReasonerTask, why: str) -> ReasonerAnswer:
    nothing = [Concluded(name=each.name, value=None, confidence=0.0) for each in task.outputs]
    return ReasonerAnswer(status="failed", outputs=nothing, explanation=why, reasoning_steps=[why])


def _conclude(question: Question, given: Sequence[Given]) -> Conclusion:
    values = [_read_of(question, at, _said(each)) for at, each in enumerate(given)]
    if question.pair is not None and len(values) >= 2:
        one, two = values[0], values[1]
        if question.shape is Shape.CHOICE:
            return choose(question, one, two)
        if question.shape is Shape.BOTH:
            return both(question, one, two)
        return common(question, one, two)
    value = next((each for each in values if each), None)
    if question.pair is not None and question.shape is not Shape.COMMON:
        return None, 0.0, "Of the two things compared only one value was found."
    if value is None:
        return None, 0.0, "No input has a value."
    if question.shape is Shape.CHECK:
        return check(question, value)
    return _passed_on(question, value, given[values.index(value)].name)


def _passed_on(question: Question, value: str, source: str) -> Conclusion:
    """The value itself, unless it is no answer of the kind that the question asks for."""
    is_passage = source == PASSAGE or is_raw(value)
    inside = _within(question, value) if is_passage and question.shape is not Shape.CHAIN else None
    if inside is not None:
        return inside, 0.8, f"{inside} is what {source} says of it."
    if is_passage and question.kind not in _SAID_IN_SENTENCES:
        return None, 0.0, f"The passage found states no {question.noun or question.kind.value}."
    if is_known(Candidate(value, Kind.NAME, 0, 0), frozenset(stems(question.text))):
        return None, 0.0, f"{value} is what the question says already."
    return value, 0.8, f"{source} is what is asked."


_SAID_IN_SENTENCES = (Kind.ANY, Kind.SENTENCE, Kind.PHRASE)
"""Kinds of answer for which a whole sentence will do."""


def _within(question: Question, passage: str) -> str | None:
    """The one value in a passage that is surely what is asked."""
    return read_out(Expected(**asked(question).model_dump()), passage, question.text)


_SURE = 0.7


def is_raw(value: str) -> bool:
    """Whether it is what a tool gave as a whole, and no value that was read out of it."""
    return len(value) > _LONGEST_VALUE


_LONGEST_VALUE = 700


def read_out(entity: Expected, text: str, about: str) -> str | None:
    """The value of an entity in what a tool gave, if one is there; of much text the likeliest."""
    task = ExtractorTask(
        description=about, arguments={}, entities=(entity,), response=(Fragment(text=text),)
    )
    found = extract(task).entities[0]
    least = _LIKELY if is_raw(text) else _SURE
    is_there = found.value is not None and (found.confidence or 0.0) >= least
    return str(found.value) if is_there else None


_LIKELY = 0.3


def _read_of(question: Question, at: int, value: str) -> str:
    """What is given, or what it says of one of two things that are compared."""
    if question.pair is None or not is_raw(value) or at > 1:
        return value
    wanted = Expected(**steps_for(question)[at].wants[0].model_dump())
    return read_out(wanted, value, question.pair[at]) or ""


def _asked_first(question: Question, task: ReasonerTask) -> list[Given]:
    """The inputs; before a mere passage goes the value itself, if the same search found it."""
    name = asked(question).name
    if question.pair is not None or name in {each.name for each in task.inputs}:
        return list(task.inputs)
    sure = [each for each in task.context if each.name.rpartition(".")[2] == name and each.value]
    return [*sure, *task.inputs]


def _said(given: Given) -> str:
    if isinstance(given.value, list):
        return ", ".join(str(each) for each in given.value)
    return "" if given.value is None else str(given.value)
