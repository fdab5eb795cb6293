"""Derive an agent task's searches from its specification and its given values."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from holdfast.models.plans.plan_drafts import DraftExpected
from holdfast.models.plans.research_plan import FINAL_ANSWER, FINDINGS_ENTITY, ExpectedEntity
from holdfast.models.tasks.agent_role_task import AgentRoleTask
from holdfast.models.tasks.named_value import NamedValue
from holdfast.planning.plans.search_tool_choice import SearchTool, search_tool
from holdfast.roles.extractive.planning.planner_rules import (
    ACCOUNTS,
    SUPPORTING_PASSAGE,
    TELLING_PASSAGE,
    SearchStep,
    answer_entity,
    closing_steps,
    keywords,
    passage_entity,
    question_without_type,
    steps_for,
    support_entity,
)
from holdfast.roles.extractive.questions.question_analysis import ParsedQuestion, parse_question

_FOUND = re.compile(r" \(found: (.*)\)$", re.DOTALL)
_NEAR = re.compile(r" \(near: (.*?)\)")
_LONGEST_LINK = 12
"""Words of a value that another search can be made with; what is longer is a passage."""


@dataclass(frozen=True)
class SearchAgenda:
    """The searches of an agent task; without searches the given values are all it needs."""

    question: ParsedQuestion
    searches: tuple[SearchStep, ...]
    given: tuple[NamedValue, ...]
    expects: tuple[ExpectedEntity, ...]
    tool: SearchTool | None
    link: str = ""
    """The values found so far of the thing that the question is about."""
    query_words: str = ""
    """Words that an earlier attempt found worth a query."""

    @property
    def concludes(self) -> bool:
        """True if the agent task concludes the answer, and does not only search."""
        return [each.name for each in self.expects] == [FINAL_ANSWER] or not self.searches

    @property
    def closing(self) -> tuple[SearchStep, ...]:
        """The searches whose first value is an input of the conclusion."""
        return closing_steps(self.question, self.searches)


def agenda_for_agent(task: AgentRoleTask) -> SearchAgenda:
    """The agenda of an agent task."""
    return build_agenda(task.specification, task.expects, task.given, search_tool(task.tools))


def build_agenda(
    specification: str,
    expects: tuple[ExpectedEntity, ...],
    given: Sequence[NamedValue],
    tool: SearchTool | None,
) -> SearchAgenda:
    """The agenda for a specification, its expected entities and its given values."""
    text, found, near = parse_specification(specification)
    question = parse_question(text)
    values = tuple(_named(each) for each in given if each.value not in (None, "", []))
    link = " ".join(dict.fromkeys((*_links(values), *found)))
    whole = SearchAgenda(question, (), values, expects, tool, link, near)
    is_final = [each.name for each in expects] == [FINAL_ANSWER]
    if tool is None or (is_final and is_sufficient(question, values)):
        return whole
    if is_final and not link:
        return replace(whole, searches=_nearer(steps_for(question), near))
    return replace(whole, searches=(_single_search(whole),))


def parse_specification(specification: str) -> tuple[str, tuple[str, ...], str]:
    """The question in a specification, what was found of it, and words worth a query."""
    found = _FOUND.search(specification)
    text = _FOUND.sub("", specification)
    near = _NEAR.search(text)
    return (
        _NEAR.sub("", text),
        tuple(found.group(1).split("; ")) if found else (),
        near.group(1) if near else "",
    )


def with_found_values(specification: str, values: Iterable[str]) -> str:
    """The specification with found values written into it."""
    text, found, near = parse_specification(specification)
    every = "; ".join(dict.fromkeys((*found, *values)))
    return f"{with_query_words(text, near)} (found: {every})" if every else specification


def with_query_words(specification: str, near: str) -> str:
    """The specification with words that are worth a query."""
    return f"{specification} (near: {near})" if near else specification


def is_sufficient(question: ParsedQuestion, values: Sequence[NamedValue]) -> bool:
    """True if the given values suffice for the conclusion without a search."""
    names = [each.name for each in values]
    if question.pair is not None:
        return len([name for name in names if name != SUPPORTING_PASSAGE]) > 1
    return answer_entity(question).name in names or any(name in ACCOUNTS for name in names)


def conclusion_inputs(one: SearchAgenda) -> tuple[NamedValue, ...]:
    """The given values as inputs of a conclusion: the asked value first, no supporting passage."""
    first = answer_entity(one.question).name
    kept = [each for each in one.given if each.name != SUPPORTING_PASSAGE] or list(one.given)
    if one.question.pair is not None:
        return tuple(kept)
    return tuple(sorted(kept, key=lambda each: each.name != first))


def whole_question_search(one: SearchAgenda) -> SearchStep:
    """One search for the whole question that requires only a passage."""
    question = one.question
    parts = (one.link, keywords(question.text), one.query_words)
    wants = (
        passage_entity(f"passage: {question_without_type(question)} {one.link}".rstrip()),
        described_with(answer_entity(question, required=False), one.link),
        support_entity(question),
    )
    return SearchStep("T1", " ".join(each for each in parts if each), wants, question.text)


def _single_search(whole: SearchAgenda) -> SearchStep:
    """One search for the expected entities, with the known values in its query."""
    question, link = whole.question, whole.link
    if [each.name for each in whole.expects] == [FINAL_ANSWER]:
        wants: tuple[DraftExpected, ...] = (
            described_with(answer_entity(question), link),
            support_entity(question),
        )
    else:
        wants = tuple(described_with(_wanted(each, question), link) for each in whole.expects)
    rest = keywords(question.outer if link and question.outer else question.text)
    parts = (link, rest, whole.query_words)
    return SearchStep("T1", " ".join(each for each in parts if each), wants, question.text)


def _wanted(entity: ExpectedEntity, question: ParsedQuestion) -> DraftExpected:
    if entity.name == FINDINGS_ENTITY.name:
        return passage_entity(f"passage: {question_without_type(question)}", name=entity.name)
    return DraftExpected(**entity.model_dump())


def described_with(wanted: DraftExpected, link: str) -> DraftExpected:
    """The entity with the known values in its description."""
    if not link or link in wanted.description:
        return wanted
    return wanted.model_copy(update={"description": f"{wanted.description} {link}"})


def _nearer(steps: tuple[SearchStep, ...], near: str) -> tuple[SearchStep, ...]:
    if not near:
        return steps
    return (replace(steps[0], query=f"{steps[0].query} {near}"), *steps[1:])


def _named(given: NamedValue) -> NamedValue:
    """The same under the entity's own name: `T1.woman` is a woman."""
    name = given.name.rpartition(".")[2] or given.name
    return given.model_copy(
        update={"name": TELLING_PASSAGE if name == FINDINGS_ENTITY.name else name}
    )


def _links(values: Iterable[NamedValue]) -> tuple[str, ...]:
    """The values that are short enough for a query."""
    kept = (_as_text(each) for each in values if each.name not in (*ACCOUNTS, SUPPORTING_PASSAGE))
    return tuple(each for each in kept if 0 < len(each.split()) <= _LONGEST_LINK)


def _as_text(given: NamedValue) -> str:
    if isinstance(given.value, list):
        return " ".join(str(each) for each in given.value)
    return str(given.value)
