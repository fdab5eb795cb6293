"""What one sub-question calls for: the searches to make, and what is known of it already."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from models.plan import FINAL_ANSWER, FINDINGS, Expected
from roles.drafts import DraftExpected
from roles.extractive.planning import (
    PASSAGE,
    SUPPORT,
    Step,
    asked,
    closing_steps,
    keywords,
    passage,
    steps_for,
    support,
    without_type,
)
from roles.extractive.questions import Question, analyse
from roles.extractive.toolbox import SearchTool, search_tool
from roles.node_planner import NodeTask
from roles.reasoner import Given

_FOUND = re.compile(r" \(found: (.*)\)$", re.DOTALL)
_NEAR = re.compile(r" \(near: (.*?)\)")
_LONGEST_LINK = 12
"""Words of a value that another search can be made with; what is longer is a passage."""
_ACCOUNTS = (PASSAGE, FINDINGS.name)


@dataclass(frozen=True)
class Agenda:
    """A sub-question taken apart; no hops: what is given is all there is to conclude from."""

    question: Question
    hops: tuple[Step, ...]
    given: tuple[Given, ...]
    expects: tuple[Expected, ...]
    tool: SearchTool | None
    link: str = ""
    """What is known by now of the thing that the question is about."""
    near: str = ""
    """Words that an earlier attempt found worth a query."""

    @property
    def concludes(self) -> bool:
        """Whether the answer itself is asked, and not a value that a search reads."""
        return [each.name for each in self.expects] == [FINAL_ANSWER] or not self.hops

    @property
    def closing(self) -> tuple[Step, ...]:
        """The hops whose first value the conclusion takes."""
        return closing_steps(self.question, self.hops)


def agenda_of(task: NodeTask) -> Agenda:
    """What the sub-question of an agent calls for."""
    return agenda(task.specification, task.expects, task.given, search_tool(task.tools))


def agenda(
    specification: str,
    expects: tuple[Expected, ...],
    given: Sequence[Given],
    tool: SearchTool | None,
) -> Agenda:
    """What a sub-question calls for, from its words, its promise, and what is given."""
    text, found, near = told(specification)
    question = analyse(text)
    values = tuple(_named(each) for each in given if each.value not in (None, "", []))
    link = " ".join(dict.fromkeys((*_links(values), *found)))
    whole = Agenda(question, (), values, expects, tool, link, near)
    is_final = [each.name for each in expects] == [FINAL_ANSWER]
    if tool is None or (is_final and suffices(question, values)):
        return whole
    if is_final and not link:
        return replace(whole, hops=_nearer(steps_for(question), near))
    return replace(whole, hops=(_one(whole),))


def told(specification: str) -> tuple[str, tuple[str, ...], str]:
    """The question in a specification, what was found of it, and words worth a query."""
    found = _FOUND.search(specification)
    text = _FOUND.sub("", specification)
    near = _NEAR.search(text)
    return (
        _NEAR.sub("", text),
        tuple(found.group(1).split("; ")) if found else (),
        near.group(1) if near else "",
    )


def with_found(specification: str, values: Iterable[str]) -> str:
    """The specification with what was found written into it."""
    text, found, near = told(specification)
    every = "; ".join(dict.fromkeys((*found, *values)))
    return f"{with_near(text, near)} (found: {every})" if every else specification


def with_near(specification: str, near: str) -> str:
    """The specification with words that are worth a query."""
    return f"{specification} (near: {near})" if near else specification


def suffices(question: Question, values: Sequence[Given]) -> bool:
    """Whether what is given is all that the conclusion takes, so that no search is needed."""
    names = [each.name for each in values]
    if question.pair is not None:
        return len([name for name in names if name != SUPPORT]) > 1
    return asked(question).name in names or any(name in _ACCOUNTS for name in names)


def inputs_of(one: Agenda) -> tuple[Given, ...]:
    """What is given, as the inputs of a conclusion: the value itself first, no mere support."""
    first = asked(one.question).name
    kept = [each for each in one.given if each.name != SUPPORT] or list(one.given)
    if one.question.pair is not None:
        return tuple(kept)
    return tuple(sorted(kept, key=lambda each: each.name != first))


def whole_search(one: Agenda) -> Step:
    """One search for the whole question, content with passages."""
    question = one.question
    parts = (one.link, keywords(question.text), one.near)
    wants = (
        passage(f"passage: {without_type(question)} {one.link}".rstrip()),
        said_of(asked(question, required=False), one.link),
        support(question),
    )
    return Step("T1", " ".join(each for each in parts if each), wants, question.text)


def _one(whole: Agenda) -> Step:
    """The one search for what is promised, with what is known."""
    question, link = whole.question, whole.link
    if [each.name for each in whole.expects] == [FINAL_ANSWER]:
        wants: tuple[DraftExpected, ...] = (
            said_of(asked(question), link), support(question),
        )  # fmt: skip
    else:
        wants = tuple(said_of(_wanted(each, question), link) for each in whole.expects)
    rest = keywords(question.outer if link and question.outer else question.text)
    parts = (link, rest, whole.near)
    return Step("T1", " ".join(each for each in parts if each), wants, question.text)


def _wanted(entity: Expected, question: Question) -> DraftExpected:
    if entity.name == FINDINGS.name:
        return passage(f"passage: {without_type(question)}", name=entity.name)
    return DraftExpected(**entity.model_dump())


def said_of(wanted: DraftExpected, link: str) -> DraftExpected:
    """The wanted entity, said of what is known by now."""
    if not link or link in wanted.description:
        return wanted
    return wanted.model_copy(update={"description": f"{wanted.description} {link}"})


def _nearer(steps: tuple[Step, ...], near: str) -> tuple[Step, ...]:
    if not near:
        return steps
    return (replace(steps[0], query=f"{steps[0].query} {near}"), *steps[1:])


def _named(given: Given) -> Given:
    """The same under the entity's own name: `T1.woman` is a woman."""
    name = given.name.rpartition(".")[2] or given.name
    return given.model_copy(update={"name": PASSAGE if name == FINDINGS.name else name})


def _links(values: Iterable[Given]) -> tuple[str, ...]:
    """The values that name something a search can be made for."""
    kept = (_as_text(each) for each in values if each.name not in (*_ACCOUNTS, SUPPORT))
    return tuple(each for each in kept if 0 < len(each.split()) <= _LONGEST_LINK)


def _as_text(given: Given) -> str:
    if isinstance(given.value, list):
        return " ".join(str(each) for each in given.value)
    return str(given.value)
