"""Synthesiser by rules: report the answer, then each quote under its source's title."""

from collections.abc import Iterable

from pydantic import JsonValue

from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.reports.report_writer_messages import (
    MOST_FINDINGS,
    ConclusionDraft,
    EvidenceItem,
    ResultItem,
    Statement,
    SynthesiserAnswer,
    SynthesiserTask,
)
from holdfast.models.tasks.named_value import NamedValue
from holdfast.planning.reports.not_found_text import NOT_FOUND
from holdfast.roles.extractive.planning.planner_rules import SUPPORTING_PASSAGE, TELLING_PASSAGE
from holdfast.roles.extractive.questions.declined_questions import unanswered_part, why_declined
from holdfast.roles.extractive.questions.question_analysis import parse_question
from holdfast.roles.extractive.tasks.reasoner_rules import reason_by_rules
from holdfast.roles.extractive.text.words_and_sentences import stems
from holdfast.roles.tasks.reasoner import ReasonerTask

_LIMITS = "Quoted from the documents that were read; others may say otherwise."
_LONGEST_QUOTE = 600
_LONGEST_VALUE = 12


def synthesise(task: SynthesiserTask) -> SynthesiserAnswer:
    """The report; each statement quotes the evidence that it cites."""
    concluded = _concluded(task) if task.concludes else None
    answer = concluded if task.concludes else _said(task)
    bearing = _bearing(answer, task) if answer else []
    told = _framed(answer, task.question) if answer else NOT_FOUND
    gaps = [*task.gaps, *_left_open(task)]
    declined = why_declined(task.question)
    if not answer and task.concludes and not declined:
        gaps.append("The results do not come to one short answer.")
    why = [Statement(text=declined)] if declined and not answer else []
    quotes = _quotes(task)
    return SynthesiserAnswer(
        summary=[Statement(text=told, evidence=bearing), *why],
        findings=quotes[:MOST_FINDINGS],
        analysis=quotes[MOST_FINDINGS:],
        conclusions=_conclusions(told, bearing, task) if bearing else [],
        gaps=gaps,
        conclusion=concluded or None,
    )


def _said(task: SynthesiserTask) -> str:
    if isinstance(task.answer, list):
        return ", ".join(str(each) for each in task.answer)
    return "" if task.answer is None else str(task.answer).strip()


def _concluded(task: SynthesiserTask) -> str:
    """The short answer as the reasoner would give it from the results; empty if it gives none."""
    told = [each for each in task.results if _values(each)]
    # As in a plan with a closing task: of a pair both sides count, of a chain what it leads to.
    closing = told if parse_question(task.question).pair is not None else told[-1:]
    inputs = tuple(
        NamedValue(name=name, value=value, description=each.question)
        for each in closing
        for name, value in _values(each).items()
    )
    asked = ReasonerTask(
        question=task.question,
        description=task.question,
        inputs=inputs,
        outputs=(ExpectedEntity(name="final_answer"),),
    )
    found = reason_by_rules(asked).outputs[0].value
    return "" if found is None else str(found).strip()


def _values(result: ResultItem) -> dict[str, JsonValue]:
    """The values of a result, without the passages they were read from."""
    return {
        n: v for n, v in result.values.items() if n not in (SUPPORTING_PASSAGE, TELLING_PASSAGE)
    }


def _conclusions(told: str, bearing: list[str], task: SynthesiserTask) -> list[ConclusionDraft]:
    """The answer as a conclusion, if its confidence is known."""
    if task.confidence is None:
        return []
    return [
        ConclusionDraft(text=told, evidence=bearing, confidence=task.confidence, limits=_LIMITS)
    ]


def _left_open(task: SynthesiserTask) -> list[str]:
    """The gap for a second question that no task searched for."""
    gap = unanswered_part(task.question)
    return [gap] if gap else []


def _framed(answer: str, question: str) -> str:
    """The answer as a sentence, after the noun of the question if there is one."""
    if answer[-1] in '.!?”"':
        return answer
    asked = parse_question(question)
    noun = "" if asked.pair is not None else asked.noun
    if not noun or noun.lower() in answer.lower() or len(answer.split()) > _LONGEST_VALUE:
        return f"{answer[0].upper()}{answer[1:]}."
    return f"{noun[0].upper()}{noun[1:]}: {answer}."


def _bearing(answer: str, task: SynthesiserTask) -> list[str]:
    """The ids of the evidence that contains the answer; all evidence if none does."""
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
    return [quote_statement(each) for each in distinct_evidence(task.evidence)]


def distinct_evidence(items: Iterable[EvidenceItem]) -> list[EvidenceItem]:
    """The evidence without repeated quotes under one title."""
    found = list(items)
    return list({(each.title, each.quote): each for each in reversed(found)}.values())[::-1]


def quote_statement(item: EvidenceItem) -> Statement:
    """A quote under its title."""
    quote = " ".join(item.quote.split())[:_LONGEST_QUOTE]
    title = _title(item.title)
    text = f"{title}: “{quote}”" if title else f"“{quote}”"
    return Statement(text=text, evidence=[item.id])


def _title(title: str) -> str:
    """The title without repetition: the path of headings often begins with it."""
    document, dash, path = title.partition(" — ")
    return path if dash and path.partition(" > ")[0] == document else title
