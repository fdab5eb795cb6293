"""Reasoner by rules: compare, check or intersect input values, or pass a value through."""

from collections.abc import Sequence

from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.tasks.named_value import NamedValue
from holdfast.roles.extractive.extraction.entity_query import is_known
from holdfast.roles.extractive.extraction.extractor_rules import extract
from holdfast.roles.extractive.extraction.table_cells import table_rows
from holdfast.roles.extractive.planning.planner_rules import (
    ACCOUNTS,
    answer_entity,
    steps_for,
)
from holdfast.roles.extractive.questions.declined_questions import why_declined
from holdfast.roles.extractive.questions.question_analysis import (
    ParsedQuestion,
    QuestionShape,
    parse_question,
)
from holdfast.roles.extractive.tasks.comparison_verdicts import (
    RuleConclusion,
    check_both,
    check_statement,
    compare_choice,
    find_common_part,
)
from holdfast.roles.extractive.text.noun_kinds import ValueKind, kind_of_noun
from holdfast.roles.extractive.text.value_candidates import ValueCandidate
from holdfast.roles.extractive.text.words_and_sentences import stems
from holdfast.roles.tasks.extractor import ExtractorTask, Fragment
from holdfast.roles.tasks.reasoner import Concluded, ReasonerAnswer, ReasonerTask


def reason_by_rules(task: ReasonerTask) -> ReasonerAnswer:
    """The outputs of a reasoning task, from its inputs and context alone."""
    given = [each for each in (*task.inputs, *task.context) if each.value not in (None, "", [])]
    missing = [each.name for each in task.inputs if each.value in (None, "", [])]
    if not given or (missing and len(missing) == len(task.inputs)):
        return _failed(task, "No value was found for: " + (", ".join(missing) or "any input"))
    is_final = [each.name for each in task.outputs] == ["final_answer"]
    if declined := why_declined(task.question if is_final else task.description):
        return _failed(task, declined)
    question = parse_question(task.question if is_final else task.description)
    value, sure, step = _conclude(question, _asked_first(question, task) or given)
    if value is None:
        return _failed(task, step)
    outputs = [Concluded(name=each.name, value=value, confidence=sure) for each in task.outputs]
    return ReasonerAnswer(reasoning_steps=[step], status="completed", outputs=outputs)


def _failed(task: ReasonerTask, why: str) -> ReasonerAnswer:
    nothing = [Concluded(name=each.name, value=None, confidence=0.0) for each in task.outputs]
    return ReasonerAnswer(status="failed", outputs=nothing, explanation=why, reasoning_steps=[why])


def _conclude(question: ParsedQuestion, given: Sequence[NamedValue]) -> RuleConclusion:
    values = [_read_of(question, at, _said(each)) for at, each in enumerate(given)]
    if question.pair is not None and len(values) >= 2:
        one, two = values[0], values[1]
        if question.shape is QuestionShape.CHOICE:
            return compare_choice(question, one, two)
        if question.shape is QuestionShape.BOTH:
            return check_both(question, one, two)
        return find_common_part(question, one, two)
    value = next((each for each in values if each), None)
    if question.pair is not None and question.shape is not QuestionShape.COMMON:
        return None, 0.0, "Of the two things compared only one value was found."
    if value is None:
        return None, 0.0, "No input has a value."
    if question.shape is QuestionShape.CHECK:
        return check_statement(question, value)
    return _passed_on(question, value, given[values.index(value)].name)


def _passed_on(question: ParsedQuestion, value: str, source: str) -> RuleConclusion:
    """The value as the answer; a failure if it is not of the kind that is asked for."""
    is_passage = source.rpartition(".")[2] in ACCOUNTS or is_raw_response(value)
    inside = (
        _within(question, value)
        if is_passage and question.shape is not QuestionShape.CHAIN
        else None
    )
    if inside is not None:
        return inside, 0.8, f"{inside} is what {source} says of it."
    if is_passage and not _may_be_sentence(question, value):
        return None, 0.0, f"No {_asked(question)} could be read from the passage that was found."
    if is_known(ValueCandidate(value, ValueKind.NAME, 0, 0), frozenset(stems(question.text))):
        return None, 0.0, f"{value} is what the question says already."
    return value, 0.8, f"{source} is what is asked."


def _asked(question: ParsedQuestion) -> str:
    """What is asked for, in a word; a noun that is not known may have other words with it."""
    if not question.noun:
        return question.kind.value
    return question.noun if kind_of_noun(question.noun.split()[-1]) else "answer"


def _may_be_sentence(question: ParsedQuestion, passage: str) -> bool:
    """True if the passage may answer as it is.

    One that does not say `risk` tells of no risk, unless it says all else that is asked.
    """
    if question.kind is ValueKind.ANY and question.noun:
        noun, said = frozenset(stems(question.noun)), frozenset(stems(passage))
        return bool(noun & said) or _says_the_rest(question, noun, passage)
    return question.kind in _SAID_IN_SENTENCES


def _says_the_rest(question: ParsedQuestion, noun: frozenset[str], passage: str) -> bool:
    """True if a sentence says the names and the verb of the question; a table row is none."""
    rest = frozenset(stems(question.text)) - noun
    is_sentence = not is_raw_response(passage) and not any(table_rows(passage))
    return is_sentence and len(rest) >= _LEAST_SAID and rest <= frozenset(stems(passage))


_LEAST_SAID = 2
"""A single word, as `open`, may be said of anything."""
_SAID_IN_SENTENCES = (ValueKind.ANY, ValueKind.SENTENCE, ValueKind.PHRASE)
"""Kinds of answer that may be a whole sentence."""


def _within(question: ParsedQuestion, passage: str) -> str | None:
    """The one value in a passage that is surely what is asked."""
    entity = ExpectedEntity(**answer_entity(question).model_dump())
    return read_value(entity, passage, question.text)


_SURE = 0.7


def is_raw_response(value: str) -> bool:
    """True if the value is a tool's whole response, not a value read out of it."""
    return len(value) > _LONGEST_VALUE


_LONGEST_VALUE = 700


def read_value(entity: ExpectedEntity, text: str, about: str) -> str | None:
    """The value of an entity in a text; None if no value is sure enough."""
    task = ExtractorTask(
        description=about, arguments={}, entities=(entity,), response=(Fragment(text=text),)
    )
    found = extract(task, keeps_doubtful=False).entities[0]
    least = _LIKELY if is_raw_response(text) else _SURE
    is_there = found.value is not None and (found.confidence or 0.0) >= least
    return str(found.value) if is_there else None


_LIKELY = 0.3


def _read_of(question: ParsedQuestion, at: int, value: str) -> str:
    """The input value; of a raw response the part about one of two compared things."""
    if question.pair is None or not is_raw_response(value) or at > 1:
        return value
    wanted = ExpectedEntity(**steps_for(question)[at].wants[0].model_dump())
    return read_value(wanted, value, question.pair[at]) or ""


def _asked_first(question: ParsedQuestion, task: ReasonerTask) -> list[NamedValue]:
    """The inputs; a value from the context goes before a passage of the same search."""
    name = answer_entity(question).name
    if question.pair is not None or name in {each.name for each in task.inputs}:
        return list(task.inputs)
    sure = [each for each in task.context if each.name.rpartition(".")[2] == name and each.value]
    return [*sure, *task.inputs]


def _said(given: NamedValue) -> str:
    if isinstance(given.value, list):
        return ", ".join(str(each) for each in given.value)
    return "" if given.value is None else str(given.value)
