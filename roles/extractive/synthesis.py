"""The synthesiser by rules: the answer, then every quote under its title; no words of its own."""

from roles.extractive.questions import analyse
from roles.extractive.text import stems
from roles.synthesiser import EvidenceItem, Statement, SynthesiserAnswer, SynthesiserTask

NO_ANSWER = "No answer was found in what was read."
_LONGEST_QUOTE = 600


def synthesise(task: SynthesiserTask) -> SynthesiserAnswer:
    """The report: each statement rests on the evidence it quotes."""
    answer = _said(task)
    bearing = _bearing(answer, task) if answer else []
    told = _framed(answer, task.question) if answer else NO_ANSWER
    statements = [Statement(text=told, evidence=bearing)]
    return SynthesiserAnswer(
        answer=statements, findings=[_finding(each) for each in _once_each(task)],
        gaps=[*task.gaps, *_left_open(task)],
    )  # fmt: skip


def _said(task: SynthesiserTask) -> str:
    if isinstance(task.answer, list):
        return ", ".join(str(each) for each in task.answer)
    return "" if task.answer is None else str(task.answer).strip()


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


_LONGEST_VALUE = 12


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


def _once_each(task: SynthesiserTask) -> list[EvidenceItem]:
    return list({(each.title, each.quote): each for each in reversed(task.evidence)}.values())[::-1]


def _finding(item: EvidenceItem) -> Statement:
    quote = " ".join(item.quote.split())[:_LONGEST_QUOTE]
    title = _title(item.title)
    text = f"{title}: “{quote}”" if title else f"“{quote}”"
    return Statement(text=text, evidence=[item.id])


def _title(title: str) -> str:
    """The title once: the path of headings often begins with it."""
    document, dash, path = title.partition(" — ")
    return path if dash and path.partition(" > ")[0] == document else title
