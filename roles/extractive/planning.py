"""The planner by rules: a question's shape becomes searches and one closing deduction."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from models.plan import EntityType
from roles.drafts import DraftExpected, DraftInput, DraftTask, PlanDraft
from roles.extractive.asking import HOW_MUCH
from roles.extractive.comparing import side_kind, side_noun
from roles.extractive.lexicon import SEARCH_FOR, Kind
from roles.extractive.questions import Question, Shape, analyse, snake
from roles.extractive.text import is_content, words
from roles.extractive.toolbox import SearchTool, search_tool
from roles.planner import PlannerTask

_LONGEST_QUERY = 40
_LONGEST_ABOUT = 500
SUPPORT = "supporting_passage"
PASSAGE = "telling_passage"


@dataclass(frozen=True)
class Step:
    """A search to make: what for, with which words, after which other step."""

    id: str
    query: str
    wants: tuple[DraftExpected, ...]
    about: str
    after: str = ""


def plan(task: PlannerTask) -> PlanDraft:
    """The plan for a question with the tools at hand."""
    question = analyse(task.question)
    tool = search_tool(task.tools)
    if tool is None:
        why = "No tool takes a single free text, so nothing can be searched."
        return PlanDraft(explanation=why, tasks=[closing("T1", question, [])])
    steps = steps_for(question)
    drafts = [search(step, tool, {step.id: step.id for step in steps}) for step in steps]
    values = [(step.id, step.wants[0]) for step in closing_steps(question, steps)]
    last = closing(f"T{len(steps) + 1}", question, values)
    return PlanDraft(explanation=_EXPLANATIONS[question.shape], tasks=[*drafts, last])


_EXPLANATIONS = {
    Shape.CHOICE: "Two things are compared: one search for each, then the comparison.",
    Shape.BOTH: "Two things must hold: one search for each, then the check of both.",
    Shape.COMMON: "Two things share something: one search for each, then what is in both.",
    Shape.CHECK: "One search for the passage that confirms or denies it, then the verdict.",
    Shape.CHAIN: "The thing is described, not named: find it first, then what is asked about it.",
    Shape.DIRECT: "One search for what is asked, then the answer.",
}


def steps_for(question: Question) -> tuple[Step, ...]:
    """The searches that the question's shape calls for."""
    if question.pair is not None:
        return tuple(_side(question, at) for at in (0, 1))
    if question.shape is Shape.CHAIN:
        return _chain(question)
    return (Step("T1", keywords(question.text), (asked(question), support(question)),
                 question.text),)  # fmt: skip


def closing_steps(question: Question, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The searches whose first value the closing deduction takes."""
    return steps if question.pair is not None else steps[-1:]


def _chain(question: Question) -> tuple[Step, ...]:
    noun = snake(question.inner_noun, "linking_thing")
    link = DraftExpected(
        name=noun,
        description=_about(f"{question.inner_noun}: {question.inner}"),
    )
    first = Step("T1", keywords(question.text), (link,), question.inner)
    query = f"{reference('T1', link.name)} {keywords(question.outer)}".strip()
    return first, Step("T2", query, (asked(question), support(question)), question.text, "T1")


def _side(question: Question, at: int) -> Step:
    pair = question.pair or ("", "")
    name, other = pair[at], pair[1 - at]
    kind = side_kind(question)
    rest = question.text.replace(name, " ").replace(other, " ")
    noun = side_noun(question)
    label = f"{snake(noun, kind.value)}_of_{snake(name, ('first', 'second')[at])}"
    if snake(name, "") == snake(other, ""):
        label = f"{label}_{at + 1}"
    head = f"{noun} ({kind.value}) of {name.replace(':', ' ')[:60]}"
    wants = DraftExpected(name=label, description=_about(f"{head}: {keywords(rest)}"))
    return Step(f"T{at + 1}", f"{name} {keywords(rest)}".strip(), (wants,), name)


def asked(question: Question, *, required: bool = True) -> DraftExpected:
    """The entity that the question asks for."""
    noun = question.noun or question.kind.value
    head = noun if question.kind is Kind.ANY else f"{noun} ({question.kind.value})"
    kind_name = "passage" if question.shape is Shape.CHECK else ""
    return DraftExpected(
        name=snake(kind_name or question.noun, _PLAIN.get(question.kind, question.kind.value)),
        description=_about(f"{kind_name or head}: {question.outer or question.text}"),
        required=required,
    )  # fmt: skip


_PLAIN = {Kind.ANY: "answer", Kind.SENTENCE: "answer"}


def support(question: Question) -> DraftExpected:
    """A second passage that bears the answer out; a plan does not fail without it."""
    about = _about(f"passage: {without_type(question)}")
    return DraftExpected(name=SUPPORT, description=about, required=False)


def without_type(question: Question) -> str:
    """The question without the noun that only says the answer's type, as `city` does."""
    if question.kind not in _TYPES or not question.noun:
        return question.text
    noun = words(question.noun)[-1].text
    return " ".join(re.sub(rf"\b{re.escape(noun)}\b", " ", question.text, count=1).split())


_TYPES = (Kind.PERSON, Kind.PLACE, Kind.GROUP, Kind.WORK, Kind.DATE, Kind.YEAR)


def passage(description: str, *, name: str = PASSAGE) -> DraftExpected:
    """The passage that says most of what is described."""
    return DraftExpected(name=name, description=_about(description))


def search(step: Step, tool: SearchTool, ids: Mapping[str, str], *, hits: int = 0) -> DraftTask:
    """The task that makes the search; `ids` says under which id each step goes.

    `hits` asks for so many hits, where the tool lets one say so.
    """
    query = renamed(step.query, ids)
    return DraftTask(
        id=ids[step.id], kind="tool", tool=tool.name,
        description=f"{SEARCH_FOR}{_about(step.about)}",
        inputs=inputs_for(tool, query, hits), expects=list(step.wants),
        depends_on=[ids[step.after]] if step.after else [],
        priority=5 if step.after else 8,
        include_context=bool(step.after),
    )  # fmt: skip


def renamed(text: str, ids: Mapping[str, str]) -> str:
    """The text with its references to steps led to the ids that these have."""
    # All at once: the new id of one step may be the old one of another.
    return _REFERRED.sub(lambda found: f"<JSON_PATH>{ids.get(found[1], found[1])}.", text)


_REFERRED = re.compile(r"<JSON_PATH>(T\d+)\.(?!\d)")


def inputs_for(tool: SearchTool, query: str, hits: int = 0) -> list[DraftInput]:
    """The search tool's parameters; no hits: as many as the tool gives by itself."""
    given = [DraftInput(name=tool.parameter, value=query)]
    if hits and tool.limit:
        most = min(hits, tool.most or hits)
        given.append(DraftInput(name=tool.limit, type=EntityType.INTEGER, value=most))
    return given


def closing(task_id: str, question: Question, values: list[tuple[str, DraftExpected]]) -> DraftTask:
    """The last task: the final answer from the values found."""
    inputs = [DraftInput(name=each.name, value=reference(at, each.name)) for at, each in values]
    return DraftTask(
        id=task_id, kind="reasoning", description=f"Answer: {_about(question.text)}",
        inputs=inputs, depends_on=list(dict.fromkeys(at for at, _ in values)), priority=3,
        include_context=bool(values),
        expects=[DraftExpected(
            name="final_answer", description=f"the short answer to: {_about(question.text)}"
        )],
    )  # fmt: skip


def keywords(text: str) -> str:
    """The text's words that say something, as a query."""
    asking = HOW_MUCH.search(text)
    if asking:
        text = f"{text[: asking.start()]} {text[asking.end() :]}"
    told = [each.text for each in words(text) if is_content(each.text)]
    return " ".join(told[:_LONGEST_QUERY])


def reference(task_id: str, entity: str) -> str:
    """What stands in an input for an entity that an earlier task finds."""
    return f"<JSON_PATH>{task_id}.{entity}</JSON_PATH>"


def _about(text: str) -> str:
    return text.replace("<", " ").replace(">", " ")[:_LONGEST_ABOUT]
