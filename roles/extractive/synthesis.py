"""The synthesiser by rules: the answer, then every quote under its title; no words of its own."""

from collections.abc import Iterable

from pydantic import JsonValue

from models.plan import Expected
from roles.extractive.planning import PASSAGE, SUPPORT
from roles.extractive.questions import analyse
from roles.extractive.reasoning import reason
from roles.extractive.text import stems
from roles.reasoner import Given, ReasonerTask
from roles.synthesiser import (
    MOST_FINDINGS,
    ConclusionDraft,
    EvidenceItem,
    ResultItem,
    Statement,
    SynthesiserAnswer,
    SynthesiserTask,
)

NO_ANSWER = "No answer was found in what was read."
_LIMITS = "It is taken from what was read as it stands there; what was not read may say otherwise."
_LONGEST_QUOTE = 600
_LONGEST_VALUE = 12
_MOST_TITLES = 3


def synthesise(task: SynthesiserTask) -> SynthesiserAnswer:
    """The report: each statement rests on the evidence it quotes."""
    concluded = _concluded(task) if task.concludes else None
    answer = concluded if task.concludes else _said(task)
    bearing = _bearing(answer, task) if answer else []
    told = _framed(answer, task.question) if answer else NO_ANSWER
    gaps = [*task.gaps, *_left_open(task)]
    if task.concludes and not answer:
        gaps.append("The results do not come to one short answer.")
    quotes = _quotes(task)
    return SynthesiserAnswer(
        summary=[Statement(text=told, evidence=bearing), *_basis(bearing, task)],
        findings=quotes[:MOST_FINDINGS],
        analysis=quotes[MOST_FINDINGS:],
        conclusions=_conclusions(told, bearing, task) if bearing else [],
        gaps=gaps,
        conclusion=concluded or None,
    )  # fmt: skip


def _said(task: SynthesiserTask) -> str:
    if isinstance(task.answer, list):
        return ", ".join(str(each) for each in task.answer)
    return "" if task.answer is None else str(task.answer).strip()


def _concluded(task: SynthesiserTask) -> str:
    """The short answer as the reasoner would give it from the results; empty if it gives none."""
    told = [each for each in task.results if _values(each)]
    # As in a plan with a closing task: of a pair both sides count, of a chain what it leads to.
    closing = told if analyse(task.question).pair is not None else told[-1:]
    inputs = tuple(
        Given(name=name, value=value, description=each.question)
        for each in closing
        for name, value in _values(each).items()
    )
    asked = ReasonerTask(
        question=task.question,
        description=task.question,
        inputs=inputs,
        outputs=(Expected(name="final_answer"),),
    )
    found = reason(asked).outputs[0].value
    return "" if found is None else str(found).strip()


def _values(result: ResultItem) -> dict[str, JsonValue]:
    """What the result says; the passages that it was read from are no values."""
    return {n: v for n, v in result.values.items() if n not in (SUPPORT, PASSAGE)}


def _conclusions(told: str, bearing: list[str], task: SynthesiserTask) -> list[ConclusionDraft]:
    """The answer as a conclusion, where it is known how sure it is."""
    if task.confidence is None:
        return []
    return [
        ConclusionDraft(text=told, evidence=bearing, confidence=task.confidence, limits=_LIMITS)
    ]


def _basis(bearing: list[str], task: SynthesiserTask) -> list[Statement]:
    """Where the answer stands, by the titles of what was read."""
    titles = dict.fromkeys(
        each.title.partition(" — ")[0] for each in task.evidence if each.id in set(bearing)
    )
    named = " and in ".join(f"“{title}”" for title in list(titles)[:_MOST_TITLES] if title)
    return [Statement(text=f"This stands in {named}.", evidence=bearing)] if named else []


def _left_open(task: SynthesiserTask) -> list[str]:
    """The second part of the question, which nothing was searched for."""
    also = analyse(task.question).also.rstrip(" ?")
    return [f"The second part of the question was not looked into: {also}?"] if also else []


def _framed(answer: str, question: str) -> str:
    """The answer as a sentence: after the noun that the question asks by, where it has one."""
    if answer[-1] in '.!?”"':
        return answer
    asked = analyse(question)
    noun = "" if asked.pair is not None else asked.noun
    if not noun or noun.lower() in answer.lower() or len(answer.split()) > _LONGEST_VALUE:
        return f"{answer[0].upper()}{answer[1:]}."
    return f"{noun[0].upper()}{noun[1:]}: {answer}."


def _bearing(answer: str, task: SynthesiserTask) -> list[str]:
    """The evidence that says the answer; all of it when none says it in those words."""
    folded = answer.lower()
    holding = [each.id for each in task.evidence if folded in each.quote.lower()]
    if holding:
        return holding
    told = frozenset(stems(answer))
    partly = [
        each.id for each in task.evidence if told & frozenset(stems(f"{each.title} {each.quote}"))
    ]
    return partly or [each.id for each in task.evidence]


def _quotes(task: SynthesiserTask) -> list[Statement]:
    """Each quote under its title; where groups were condensed, what their summaries say."""
    if task.groups:
        return [each for group in task.groups for each in group.statements if each.evidence]
    return [finding(each) for each in once_each(task.evidence)]


def once_each(items: Iterable[EvidenceItem]) -> list[EvidenceItem]:
    """The evidence without what says the same under the same title again."""
    found = list(items)
    return list({(each.title, each.quote): each for each in reversed(found)}.values())[::-1]


def finding(item: EvidenceItem) -> Statement:
    """A quote under its title."""
    quote = " ".join(item.quote.split())[:_LONGEST_QUOTE]
    title = _title(item.title)
    text = f"{title}: “{quote}”" if title else f"“{quote}”"
    return Statement(text=text, evidence=[item.id])


def _title(title: str) -> str:
    """The title once: the path of headings often begins with it."""
    document, dash, path = title.partition(" — ")
    return path if dash and path.partition(" > ")[0] == document else title
