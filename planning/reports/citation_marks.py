"""Number the citation marks of a report, and take a draft's own marks out of its text."""

import json
import re
from collections.abc import Iterable, Sequence

from holdfast.models.evidence.evidence import (
    Citation,
    Report,
    ReportConclusion,
    ReportStatement,
    StoredEvidence,
)
from holdfast.models.reports.report_writer_messages import (
    Statement,
    SynthesiserAnswer,
    SynthesiserTask,
)
from holdfast.models.text.report_marks import without_marks
from holdfast.models.text.terminal_text import single_line
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.reports.evidence_selection import evidence_by_citation_id

_ID = re.compile(r"E\d+")
_ROUND_MARK = re.compile(r" ?\((E\d+(?:[,;] ?E\d+)*)\)")


def without_citation_marks(answer: SynthesiserAnswer) -> SynthesiserAnswer:
    """The draft without the writer's own marks: only the engine numbers citations."""
    parts = {
        name: [each.model_copy(update={"text": _bare_text(each)}) for each in statements]
        for name, statements in statements_by_part(answer).items()
    }
    return answer.model_copy(update=parts)


def _bare_text(statement: Statement) -> str:
    """The text without marks. `(E3)` is one only if the statement cites E3: it may be a name."""
    cited = set(statement.evidence)

    def without_cited(mark: re.Match[str]) -> str:
        return "" if set(_ID.findall(mark[1])) <= cited else mark[0]

    return without_marks(_ROUND_MARK.sub(without_cited, statement.text))


def statements_by_part(answer: SynthesiserAnswer) -> dict[str, Sequence[Statement]]:
    """The statements of a draft by their part, in the order in which they are read."""
    return {
        "summary": answer.summary,
        "findings": answer.findings,
        "analysis": answer.analysis,
        "conclusions": answer.conclusions,
    }


class CitationMarks:
    """Marks in order of first use, one per passage quoted."""

    def __init__(self, found: Sequence[StoredEvidence]) -> None:
        self._by_id = evidence_by_citation_id(found)
        self._marks: dict[int, int] = {}
        self._items = {item.id: item for item in found}

    def statement(self, draft: Statement) -> ReportStatement:
        """The sentence with its marks."""
        items = [self._by_id[name] for name in dict.fromkeys(draft.evidence)]
        return self.of(draft.text, items)

    def of(self, text: str, items: Iterable[StoredEvidence]) -> ReportStatement:
        """A statement that cites these pieces of evidence."""
        numbers = [self._marks.setdefault(item.id, len(self._marks) + 1) for item in items]
        return ReportStatement(text=without_marks(text), marks=tuple(numbers))

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The citations of the marks numbered so far."""
        return tuple(_citation(mark, self._items[key]) for key, mark in self._marks.items())


def cited_report(
    task: SynthesiserTask,
    answer: SynthesiserAnswer,
    marks: CitationMarks,
    *,
    confidence: float | None,
    model: str,
) -> Report:
    """The report with marks numbered in order of first use, without what only the engine knows.

    `confidence` is that of the answer; a report without an answer has none.
    """
    said = answer.conclusion if task.concludes else task.answer
    short = None if said in (None, "") else _short_answer(value_as_text(said))
    sure = None if short is None else confidence
    return Report(
        question=task.question,
        answer=short,
        summary=tuple(marks.statement(each) for each in answer.summary),
        findings=tuple(marks.statement(each) for each in answer.findings),
        analysis=tuple(marks.statement(each) for each in answer.analysis),
        conclusions=tuple(
            ReportConclusion(
                **marks.statement(each).model_dump(),
                confidence=None if sure is None else min(sure, each.confidence),
                limits=without_marks(each.limits),
            )
            for each in answer.conclusions
        ),
        gaps=tuple(dict.fromkeys(map(without_marks, (*task.gaps, *answer.gaps)))),
        confidence=sure,
        model=model,
    )


def _short_answer(text: str) -> str:
    """The answer without forged marks; a list, an object or a mark alone is the answer itself."""
    line = single_line(text)
    return line if _is_json(line) else without_marks(line) or line


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


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
