"""The reasoner by rules: compares, selects, intersects, or passes a value through."""

from collections.abc import Sequence

from models.plan import Expected
from roles.extractive.candidates import Candidate
from roles.extractive.extraction import extract
from roles.extractive.lexicon import Kind
from roles.extractive.planning import PASSAGE, asked
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
    values = [_said(each) for each in given]
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
    is_passage = source == PASSAGE
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
    wanted = Expected(**asked(question).model_dump())
    task = ExtractorTask(
        description=question.text, arguments={}, entities=(wanted,),
        response=(Fragment(text=passage),),
    )  # fmt: skip
    found = extract(task).entities[0]
    is_sure = found.value is not None and (found.confidence or 0.0) >= _SURE
    return str(found.value) if is_sure else None


_SURE = 0.7


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
