"""From evidence to a report: what the writer may cite, what it must, and the marks."""

import re
from collections.abc import Iterable, Sequence

from models.evidence import Citation, Report, ReportStatement, StoredEvidence
from models.plan import Plan, TaskStatus
from roles.synthesiser import EvidenceItem, Statement, SynthesiserAnswer, SynthesiserTask

_MOST_EVIDENCE = 60
_MARK = re.compile(r"\s?\[\d{1,4}\]")


def in_support(plan: Plan, found: Sequence[StoredEvidence]) -> list[StoredEvidence]:
    """The evidence that the final answer rests on, in order of the plan.

    Without an answer, the evidence of every finished task: the report then says what was found.
    """
    final = next((t for t in plan.live if t.is_final and t.status is TaskStatus.DONE), None)
    wanted = _upstream(plan, final.id) if final else {task.id for task in plan.live}
    place = {task.id: n for n, task in enumerate(plan.tasks)}
    chosen = [item for item in found if item.task_id in wanted]
    chosen.sort(key=lambda item: (place[item.task_id], item.id))
    # Two entities may rest on the same words: a reader wants to see them once.
    once = {(item.source_id, item.start, item.end): item for item in reversed(chosen)}
    return list(reversed(once.values()))[:_MOST_EVIDENCE]


def _upstream(plan: Plan, task_id: str) -> set[str]:
    seen: set[str] = set()
    frontier = [task_id]
    while frontier:
        current = frontier.pop()
        if current not in seen and current in plan.by_id:
            seen.add(current)
            frontier.extend(plan.by_id[current].depends_on)
    return seen


def gaps_of(plan: Plan) -> tuple[str, ...]:
    """What the plan set out to find and did not, in the words of its tasks."""
    failed = [task for task in plan.tasks if task.status is TaskStatus.FAILED]
    not_done = (TaskStatus.PENDING, TaskStatus.CANCELLED)
    waiting = [task for task in plan.tasks if task.status in not_done and not task.is_final]
    return tuple(f"{task.id}: {task.description}" for task in (*failed, *waiting))


def evidence_items(found: Iterable[StoredEvidence]) -> tuple[EvidenceItem, ...]:
    """The evidence under the ids by which the writer may cite it: E1, E2 and so on."""
    return tuple(
        EvidenceItem(id=f"E{n}", title=_title(item), quote=item.quote, shows=_shows(item))
        for n, item in enumerate(found, start=1)
    )


def _title(item: StoredEvidence) -> str:
    return f"{item.title} — {item.heading}" if item.heading else item.title


def _shows(item: StoredEvidence) -> str:
    about = f" ({item.description})" if item.description else ""
    return f"{item.entity}{about}: {item.value}"[:500]


def statement_faults(answer: SynthesiserAnswer, task: SynthesiserTask) -> list[str]:
    """What is wrong with the statements: unknown ids, or claims without evidence."""
    known = {item.id for item in task.evidence}
    if not answer.answer:
        return ["`answer` has no statement"]
    faults = [
        f"the statement {statement.text[:60]!r} cites {name!r}, which is not among the evidence"
        for statement in (*answer.answer, *answer.findings)
        for name in statement.evidence
        if name not in known
    ]
    cited = {name for statement in answer.answer for name in statement.evidence}
    if known and task.answer is not None and not cited:
        faults.append("no statement of `answer` cites evidence")
    faults += [
        f"the finding {statement.text[:60]!r} cites no evidence"
        for statement in answer.findings
        if known and not statement.evidence
    ]
    return faults


def cited_report(
    task: SynthesiserTask, answer: SynthesiserAnswer, found: Sequence[StoredEvidence], model: str
) -> Report:
    """The report with marks numbered in order of first use, one per passage quoted."""
    by_id = {f"E{n}": item for n, item in enumerate(found, start=1)}
    marks: dict[int, int] = {}

    def marked(statement: Statement) -> ReportStatement:
        items = [by_id[name] for name in dict.fromkeys(statement.evidence)]
        numbers = [marks.setdefault(item.id, len(marks) + 1) for item in items]
        return ReportStatement(text=_without_marks(statement.text), marks=tuple(numbers))

    summary = tuple(marked(statement) for statement in answer.answer)
    findings = tuple(marked(statement) for statement in answer.findings)
    items = {item.id: item for item in found}
    return Report(
        question=task.question,
        answer=None if task.answer is None else str(task.answer),
        summary=summary,
        findings=findings,
        gaps=tuple(dict.fromkeys((*task.gaps, *answer.gaps))),
        citations=tuple(_citation(mark, items[key]) for key, mark in marks.items()),
        model=model,
    )


def _without_marks(text: str) -> str:
    """The text without marks of its own: those of the report lead to its evidence, or nowhere."""
    return _MARK.sub("", text).strip()


def _citation(mark: int, item: StoredEvidence) -> Citation:
    return Citation(
        mark=mark,
        evidence_id=item.id,
        source_id=item.source_id,
        address=item.address,
        title=item.title,
        heading=item.heading,
        start=item.source_start + item.start,
        end=item.source_start + item.end,
        quote=item.quote,
        sha256=item.sha256,
    )
