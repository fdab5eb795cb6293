"""Planner by rules: turn a question's shape into searches and one closing deduction."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.models.plans.plan_drafts import DraftExpected, DraftInput, DraftTask, PlanDraft
from holdfast.models.plans.research_plan import FINDINGS_ENTITY, EntityType
from holdfast.planning.plans.search_tool_choice import SearchTool, search_tool
from holdfast.roles.extractive.questions.answer_kind import HOW_MUCH
from holdfast.roles.extractive.questions.comparison_measures import side_kind, side_noun
from holdfast.roles.extractive.questions.question_analysis import (
    ParsedQuestion,
    QuestionShape,
    parse_question,
    snake_name,
)
from holdfast.roles.extractive.text.noun_kinds import SEARCH_PREFIX, ValueKind
from holdfast.roles.extractive.text.words_and_sentences import is_content_word, words
from holdfast.roles.planning.planner import PlannerTask

_LONGEST_QUERY = 40
_LONGEST_ABOUT = 500
FIND_PREFIX = "Find the "
"""The beginning of a sub-question that is no question."""
SUPPORTING_PASSAGE = "supporting_passage"
TELLING_PASSAGE = "telling_passage"
ACCOUNTS = (TELLING_PASSAGE, FINDINGS_ENTITY.name)
"""Entities that hold a passage, out of which a value is still to be read."""


@dataclass(frozen=True)
class SearchStep:
    """A search: its query, the entities it looks for, and the step it depends on."""

    id: str
    query: str
    wants: tuple[DraftExpected, ...]
    about: str
    after: str = ""


def plan_by_rules(task: PlannerTask) -> PlanDraft:
    """The plan for a question with the given tools."""
    question = parse_question(task.question)
    tool = search_tool(task.tools)
    if tool is None:
        why = "No tool takes a single free text, so nothing can be searched."
        return PlanDraft(explanation=why, tasks=[closing_task("T1", question, [])])
    steps = steps_for(question)
    drafts = [search_task(step, tool, {step.id: step.id for step in steps}) for step in steps]
    values = [(step.id, step.wants[0]) for step in closing_steps(question, steps)]
    last = closing_task(f"T{len(steps) + 1}", question, values)
    return PlanDraft(explanation=_EXPLANATIONS[question.shape], tasks=[*drafts, last])


_EXPLANATIONS = {
    QuestionShape.CHOICE: "Two things are compared: one search for each, then the comparison.",
    QuestionShape.BOTH: "Two things must hold: one search for each, then the check of both.",
    QuestionShape.COMMON: "Two things share something: one search for each, then what is in both.",
    QuestionShape.CHECK: "One search for the passage that confirms or denies it, then the verdict.",
    QuestionShape.CHAIN: "The thing is described, not named: find it first, then what is asked "
    "about it.",
    QuestionShape.DIRECT: "One search for what is asked, then the answer.",
}


def steps_for(question: ParsedQuestion) -> tuple[SearchStep, ...]:
    """The searches for the question's shape."""
    if question.pair is not None:
        return tuple(_side(question, at) for at in (0, 1))
    if question.shape is QuestionShape.CHAIN:
        return _chain(question)
    return (
        SearchStep(
            "T1",
            keywords(question.text),
            (answer_entity(question), support_entity(question)),
            question.text,
        ),
    )


def closing_steps(
    question: ParsedQuestion, steps: tuple[SearchStep, ...]
) -> tuple[SearchStep, ...]:
    """The searches whose first value is an input of the closing task."""
    return steps if question.pair is not None else steps[-1:]


def _chain(question: ParsedQuestion) -> tuple[SearchStep, ...]:
    noun = snake_name(question.inner_noun, "linking_thing")
    link = DraftExpected(
        name=noun,
        description=_about(f"{question.inner_noun}: {question.inner}"),
    )
    first = SearchStep("T1", keywords(question.text), (link,), question.inner)
    query = f"{entity_reference('T1', link.name)} {keywords(question.outer)}".strip()
    return first, SearchStep(
        "T2", query, (answer_entity(question), support_entity(question)), question.text, "T1"
    )


def _side(question: ParsedQuestion, at: int) -> SearchStep:
    pair = question.pair or ("", "")
    name, other = pair[at], pair[1 - at]
    kind = side_kind(question)
    rest = question.text.replace(name, " ").replace(other, " ")
    noun = side_noun(question)
    label = f"{snake_name(noun, kind.value)}_of_{snake_name(name, ('first', 'second')[at])}"
    if snake_name(name, "") == snake_name(other, ""):
        label = f"{label}_{at + 1}"
    head = f"{noun} ({kind.value}) of {name.replace(':', ' ')[:60]}"
    wants = DraftExpected(name=label, description=_about(f"{head}: {keywords(rest)}"))
    return SearchStep(f"T{at + 1}", f"{name} {keywords(rest)}".strip(), (wants,), name)


def answer_entity(question: ParsedQuestion, *, required: bool = True) -> DraftExpected:
    """The entity that the question asks for."""
    noun = question.noun or question.kind.value
    head = noun if question.kind is ValueKind.ANY else f"{noun} ({question.kind.value})"
    kind_name = "passage" if question.shape is QuestionShape.CHECK else ""
    return DraftExpected(
        name=snake_name(kind_name or question.noun, _PLAIN.get(question.kind, question.kind.value)),
        description=_about(f"{kind_name or head}: {question.outer or question.text}"),
        required=required,
    )


_PLAIN = {ValueKind.ANY: "answer", ValueKind.SENTENCE: "answer"}


def support_entity(question: ParsedQuestion) -> DraftExpected:
    """An optional second passage that supports the answer."""
    about = _about(f"passage: {question_without_type(question)}")
    return DraftExpected(name=SUPPORTING_PASSAGE, description=about, required=False)


def question_without_type(question: ParsedQuestion) -> str:
    """The question without the noun that only says the answer's type, as `city` does."""
    if question.kind not in _TYPES or not question.noun:
        return question.text
    noun = words(question.noun)[-1].text
    return " ".join(re.sub(rf"\b{re.escape(noun)}\b", " ", question.text, count=1).split())


_TYPES = (
    ValueKind.PERSON,
    ValueKind.PLACE,
    ValueKind.GROUP,
    ValueKind.WORK,
    ValueKind.DATE,
    ValueKind.YEAR,
)


def passage_entity(description: str, *, name: str = TELLING_PASSAGE) -> DraftExpected:
    """The passage that says most of what is described."""
    return DraftExpected(name=name, description=_about(description))


def search_task(
    step: SearchStep, tool: SearchTool, ids: Mapping[str, str], *, hits: int = 0
) -> DraftTask:
    """The task that makes the search; `ids` says under which id each step goes.

    `hits` asks for so many hits, where the tool lets one say so.
    """
    query = with_new_ids(step.query, ids)
    return DraftTask(
        id=ids[step.id],
        kind="tool",
        tool=tool.name,
        description=f"{SEARCH_PREFIX}{_about(step.about)}",
        inputs=search_inputs(tool, query, hits),
        expects=list(step.wants),
        depends_on=[ids[step.after]] if step.after else [],
        priority=5 if step.after else 8,
        include_context=bool(step.after),
    )


def with_new_ids(text: str, ids: Mapping[str, str]) -> str:
    """The text with references to steps replaced by references to their new ids."""
    # All at once: the new id of one step may be the old one of another.
    return _REFERRED.sub(lambda found: f"<JSON_PATH>{ids.get(found[1], found[1])}.", text)


_REFERRED = re.compile(r"<JSON_PATH>(T\d+)\.(?!\d)")


def search_inputs(tool: SearchTool, query: str, hits: int = 0) -> list[DraftInput]:
    """The search tool's parameters, each word of the query once.

    Without `hits` the tool's own limit holds.
    """
    given = [DraftInput(name=tool.parameter, value=_each_word_once(query))]
    if hits and tool.limit:
        most = min(hits, tool.most or hits)
        given.append(DraftInput(name=tool.limit, type=EntityType.INTEGER, value=most))
    return given


def _each_word_once(query: str) -> str:
    """The query without words that it repeats: a report names it as it was searched.

    A word that follows itself stays, and a capitalised one among others, as in a name like
    `Walla Walla` or `New York New York`.
    """
    kept: list[str] = []
    said: set[str] = set()
    name: set[str] = set()
    last = ""
    for word in query.split():
        low = word.casefold()
        if low not in said or low == last or (word[0].isupper() and low in name):
            kept.append(word)
        name = {*name, low} if word[0].isupper() else set()
        said.add(low)
        last = low
    return " ".join(kept)


def closing_task(
    task_id: str, question: ParsedQuestion, values: list[tuple[str, DraftExpected]]
) -> DraftTask:
    """The last task: the final answer from the values found."""
    inputs = [
        DraftInput(name=each.name, value=entity_reference(at, each.name)) for at, each in values
    ]
    return DraftTask(
        id=task_id,
        kind="reasoning",
        description=f"Answer: {_about(question.text)}",
        inputs=inputs,
        depends_on=list(dict.fromkeys(at for at, _ in values)),
        priority=3,
        include_context=bool(values),
        expects=[
            DraftExpected(
                name="final_answer", description=f"the short answer to: {_about(question.text)}"
            )
        ],
    )


def keywords(text: str) -> str:
    """The text's content words, as a query."""
    text = text.removeprefix(FIND_PREFIX)
    asking = HOW_MUCH.search(text)
    if asking:
        text = f"{text[: asking.start()]} {text[asking.end() :]}"
    told = [each.text for each in words(text) if is_content_word(each.text)]
    return " ".join(told[:_LONGEST_QUERY])


def entity_reference(task_id: str, entity: str) -> str:
    """A reference to an entity of an earlier task."""
    return f"<JSON_PATH>{task_id}.{entity}</JSON_PATH>"


def _about(text: str) -> str:
    return text.replace("<", " ").replace(">", " ")[:_LONGEST_ABOUT]
