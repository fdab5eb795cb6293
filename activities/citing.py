"""From evidence to a report: what the writer may cite, what it must, and the marks."""

import json
import re
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from models.evidence import Citation, Conclusion, Report, ReportStatement, StoredEvidence
from models.plan import Plan, Task, TaskStatus
from models.verification import Contradiction
from planning.resting import owner_of
from roles.synthesiser import (
    LEAST_FINDINGS,
    MOST_FINDINGS,
    EvidenceItem,
    Statement,
    SynthesiserAnswer,
    SynthesiserTask,
)

_MOST_EVIDENCE = 200
_EACH_SIDE = 2
"""Passages that are cited for one side of a contradiction."""
_MARK = re.compile(r"\s?\[\d{1,4}\]")
_WORD = re.compile(r"\w{3,}")


def in_support(plan: Plan, found: Sequence[StoredEvidence]) -> list[StoredEvidence]:
    """The evidence that the final answer rests on, in order of the plan.

    Without an answer, the evidence of all that was found: the report then says that. An agent's
    evidence is that of its steps; a step that was superseded after it had found something counts,
    since what all of an agent's attempts found is kept.
    """
    final = next((t for t in plan.live if t.is_final and t.status is TaskStatus.DONE), None)
    wanted = _upstream(plan, final.id) if final else {task.id for task in plan.live}
    wanted |= {task.id for task in plan.tasks if task.parent in wanted and _counts(task)}
    place = {task.id: n for n, task in enumerate(plan.tasks)}
    chosen = [item for item in found if item.task_id in wanted]
    chosen.sort(key=lambda item: (place[item.task_id], item.id))
    # Two entities may rest on the same words: a reader wants to see them once.
    once = {(item.source_id, item.start, item.end): item for item in reversed(chosen)}
    return list(reversed(once.values()))[:_MOST_EVIDENCE]


def _counts(step: Task) -> bool:
    gone = (TaskStatus.SUPERSEDED, TaskStatus.CANCELLED)
    return step.status not in gone or bool(step.result)


def _upstream(plan: Plan, task_id: str) -> set[str]:
    seen: set[str] = set()
    frontier = [task_id]
    while frontier:
        current = frontier.pop()
        if current not in seen and current in plan.by_id:
            seen.add(current)
            frontier.extend(plan.by_id[current].depends_on)
    return seen


def evidence_items(found: Iterable[StoredEvidence]) -> tuple[EvidenceItem, ...]:
    """The evidence under the ids by which the writer may cite it: E1, E2 and so on."""
    return tuple(
        EvidenceItem(id=name, title=title_of(item), quote=item.quote, shows=_shows(item))
        for name, item in by_id(found).items()
    )


def by_id(found: Iterable[StoredEvidence]) -> dict[str, StoredEvidence]:
    """The evidence by the ids under which the writer knows it."""
    return {f"E{n}": item for n, item in enumerate(found, start=1)}


def title_of(item: StoredEvidence) -> str:
    """The source's title with its heading."""
    return f"{item.title} — {item.heading}" if item.heading else item.title


def _shows(item: StoredEvidence) -> str:
    about = f" ({item.description})" if item.description else ""
    return f"{item.entity}{about}: {item.value}"[:500]


def statement_faults(answer: SynthesiserAnswer, task: SynthesiserTask) -> list[str]:
    """What is wrong with the statements: unknown ids, or claims without evidence."""
    known = {item.id for item in task.evidence}
    if not answer.summary:
        return ["`summary` has no statement"]
    must_cite = [("finding", each) for each in answer.findings]
    must_cite += [("conclusion", each) for each in answer.conclusions]
    faults = [*unknown_ids((*answer.summary, *answer.analysis), known)]
    faults += unknown_ids((each for _, each in must_cite), known)
    if known and task.answer is not None and not any(each.evidence for each in answer.summary):
        faults.append("no statement of `summary` cites evidence")
    faults += [
        f"the {what} {statement.text[:60]!r} cites no evidence"
        for what, statement in must_cite
        if known and not statement.evidence
    ]
    return [*faults, *_count_faults(answer, len(known)), *_conclusion_faults(answer, task)]


def unknown_ids(statements: Iterable[Statement], known: set[str]) -> list[str]:
    """What is wrong with the ids that statements cite."""
    return [
        f"the statement {statement.text[:60]!r} cites {name!r}, which is not among the evidence"
        for statement in statements
        for name in statement.evidence
        if name not in known
    ]


def _count_faults(answer: SynthesiserAnswer, evidence: int) -> list[str]:
    count = len(answer.findings)
    if count > MOST_FINDINGS:
        return [f"there are {count} findings; keep the {MOST_FINDINGS} most important ones"]
    if 0 < count < LEAST_FINDINGS <= evidence // 2:
        return [f"there are {count} findings; the evidence carries at least {LEAST_FINDINGS}"]
    return []


def _conclusion_faults(answer: SynthesiserAnswer, task: SynthesiserTask) -> list[str]:
    if not task.concludes or answer.conclusion not in (None, "") or answer.gaps:
        return []
    return ["`conclusion` is empty: give the short answer, or name the gap in `gaps`"]


def without_marks(answer: SynthesiserAnswer) -> SynthesiserAnswer:
    """The draft without marks of its own: those of a report lead to its evidence, or nowhere."""
    parts = {
        name: [each.model_copy(update={"text": _unmarked(each.text)}) for each in statements]
        for name, statements in parts_of(answer).items()
    }
    return answer.model_copy(update=parts)


def parts_of(answer: SynthesiserAnswer) -> dict[str, Sequence[Statement]]:
    """The statements of a draft by their part, in the order in which they are read."""
    return {
        "summary": answer.summary,
        "findings": answer.findings,
        "analysis": answer.analysis,
        "conclusions": answer.conclusions,
    }


def text_of(value: JsonValue) -> str:
    """A value as it is told in text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unmarked(text: str) -> str:
    return _MARK.sub("", text).strip()


class Marks:
    """Marks in order of first use, one per passage quoted."""

    def __init__(self, found: Sequence[StoredEvidence]) -> None:
        self._by_id = by_id(found)
        self._marks: dict[int, int] = {}
        self._items = {item.id: item for item in found}

    def statement(self, draft: Statement) -> ReportStatement:
        """The sentence with its marks."""
        items = [self._by_id[name] for name in dict.fromkeys(draft.evidence)]
        return self.of(draft.text, items)

    def of(self, text: str, items: Iterable[StoredEvidence]) -> ReportStatement:
        """A sentence that rests on these."""
        numbers = [self._marks.setdefault(item.id, len(self._marks) + 1) for item in items]
        return ReportStatement(text=text, marks=tuple(numbers))

    @property
    def citations(self) -> tuple[Citation, ...]:
        """What the marks given so far lead to."""
        return tuple(_citation(mark, self._items[key]) for key, mark in self._marks.items())


def cited_report(
    task: SynthesiserTask, answer: SynthesiserAnswer, marks: Marks, model: str
) -> Report:
    """The report with marks numbered in order of first use, without what only the engine knows."""
    said = answer.conclusion if task.concludes else task.answer
    return Report(
        question=task.question,
        answer=None if said in (None, "") else text_of(said),
        summary=tuple(marks.statement(each) for each in answer.summary),
        findings=tuple(marks.statement(each) for each in answer.findings),
        analysis=tuple(marks.statement(each) for each in answer.analysis),
        conclusions=tuple(
            Conclusion(
                **marks.statement(each).model_dump(),
                confidence=each.confidence,
                limits=_unmarked(each.limits),
            )
            for each in answer.conclusions
        ),
        gaps=tuple(dict.fromkeys((*task.gaps, *map(_unmarked, answer.gaps)))),
        confidence=task.confidence,
        model=model,
    )


def sides_of(
    contradiction: Contradiction, plan: Plan, found: Sequence[StoredEvidence]
) -> tuple[list[StoredEvidence], list[StoredEvidence]]:
    """The evidence of each side: of the tasks that it names, what shares most words with it."""
    tasks = contradiction.tasks
    ones, others = tasks[:1], tasks[1:] or tasks[:1]
    return (
        _nearest(contradiction.one, _of_tasks(ones, plan, found)),
        _nearest(contradiction.other, _of_tasks(others, plan, found)),
    )


def _of_tasks(
    names: Iterable[str], plan: Plan, found: Iterable[StoredEvidence]
) -> list[StoredEvidence]:
    wanted = set(names)
    return [each for each in found if {each.task_id, owner_of(plan, each.task_id)} & wanted]


def _nearest(claim: str, found: list[StoredEvidence]) -> list[StoredEvidence]:
    words = set(_WORD.findall(claim.lower()))

    def shared(item: StoredEvidence) -> int:
        return len(words & set(_WORD.findall(item.quote.lower())))

    return sorted(found, key=shared, reverse=True)[:_EACH_SIDE]


def _citation(mark: int, item: StoredEvidence) -> Citation:
    return Citation(
        mark=mark,
        evidence_id=item.id,
        source_id=item.source_id,
        address=item.address,
        title=item.title,
        heading=item.heading,
        date=item.date,
        tool=item.tool,
        via=item.via,
        start=item.source_start + item.start,
        end=item.source_start + item.end,
        quote=item.quote,
        sha256=item.sha256,
        fetched_at=item.fetched_at,
    )
