"""From a sentence of a report to the passage, the calls and the history that it comes from."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from activities.checking import HEDGE
from activities.citing import parts_of, without_marks
from holdfast.client import Holdfast
from holdfast.histories import Histories
from holdfast.reading import report_of
from models.errors import NotFound
from models.evidence import Citation, Report, ReportStatement
from models.sources import CallRecord, Provenance, Sentence
from planning.quotes import locate
from roles.extractor import EXTRACTOR, ExtractorAnswer
from roles.replies import ReplyInvalid, read_reply
from roles.synthesiser import SYNTHESISER, SynthesiserAnswer
from storage import sources
from storage.checks import checks_of
from storage.database import Database
from storage.ledger import recorded_answer
from storage.sources import Cited

_REPORT = "report"
"""What the report's activity is called in Temporal, and its calls in the ledger."""
_BY_RULES = "put in by rules: the engine's own words, or what a verification round found"


@dataclass(frozen=True)
class Fetched:
    """The tool call whose answer holds the passage, and whose answer it took."""

    call: CallRecord | None
    earlier: CallRecord | None = None
    holds: bool = False


async def provenance_of(holdfast: Holdfast, job_id: str, mark: int) -> Provenance:
    """Where what the report says under this mark comes from.

    Raises:
        NotFound: there is no such job, no report of it, or no such mark in it.
    """
    report = await report_of(holdfast, job_id)
    citation = _citation(report, job_id, mark)
    found = (await sources.cited(holdfast.db, job_id, [citation.evidence_id])).get(
        citation.evidence_id
    )
    if found is None:
        raise NotFound(f"job {job_id} has no evidence {citation.evidence_id} any more")
    sentences = await _sentences(holdfast, job_id, report, mark)
    by_tool = await fetched(holdfast.db, job_id, found)
    extracted = await _extracted(holdfast, job_id, found)
    histories = Histories(holdfast, job_id)
    written = next((each.written_by for each in sentences if each.written_by), None)
    worked = extracted or by_tool.call
    place = found.task_id if found.attempt == 1 else f"{found.task_id}#{found.attempt}"
    return Provenance(
        job_id=job_id,
        mark=mark,
        sentences=sentences,
        writing=await histories.place(_REPORT, written.finished_at if written else None),
        citation=citation,
        task_id=found.task_id,
        attempt=found.attempt,
        entity=found.entity,
        value=found.value,
        status=found.status,
        resolves=found.resolves,
        source_start=found.start,
        source_end=found.end,
        check=(await checks_of(holdfast.db, [found.id])).get(found.id),
        fetched_by=by_tool.call,
        repeated=by_tool.earlier,
        extracted_by=extracted,
        working=await histories.place(place, worked.finished_at if worked else None),
        notes=_notes(by_tool, extracted),
    )


def _citation(report: Report, job_id: str, mark: int) -> Citation:
    for each in report.citations:
        if each.mark == mark:
            return each
    marks = f"1 to {len(report.citations)}" if report.citations else "none"
    raise NotFound(f"the report of {job_id} has no mark {mark}; its marks: {marks}")


def _notes(fetched: Fetched, extracted: CallRecord | None) -> tuple[str, ...]:
    notes = []
    if fetched.call is None:
        notes.append("the ledger has no answered tool call of this attempt")
    elif not fetched.holds:
        notes.append("the recorded answer of this call does not hold the passage")
    if extracted is None:
        notes.append("no model located the words: rules did, by what the task looks for")
    return tuple(notes)


async def fetched(db: Database, job_id: str, found: Cited) -> Fetched:
    """The call of the attempt whose recorded answer holds the passage, else its newest one."""
    rows = await sources.tool_calls_of(db, job_id, found.task_id, found.attempt)
    holding = next((row for row in rows if _holds(row, found)), None)
    row = holding or next(iter(rows), None)
    if row is None:
        return Fetched(None)
    earlier = await sources.tool_call(db, row.repeats) if row.repeats else None
    return Fetched(_tool_record(row), earlier and _tool_record(earlier), holding is not None)


def _holds(row: Any, found: Cited) -> bool:  # noqa: ANN401 - a row
    wanted = found.passage
    return any(
        (each.text, each.start) == (wanted.text, wanted.start) and each.address == wanted.address
        for each in recorded_answer(row.response, row.tool).passages
    )


async def _extracted(holdfast: Holdfast, job_id: str, found: Cited) -> CallRecord | None:
    """The extractor's call whose reply gives the entity with just these words."""
    rows = await sources.model_calls_of(
        holdfast.db, job_id, [EXTRACTOR.name], found.task_id, found.attempt
    )
    for row in rows:
        try:
            answer = read_reply(row.response or "", ExtractorAnswer)
        except ReplyInvalid:
            continue
        if any(_gives(each.value, each.quote, found) for each in answer.entities
               if each.name == found.entity):  # fmt: skip
            return _model_record(row)
    return None


def _gives(value: Any, quote: str, found: Cited) -> bool:  # noqa: ANN401 - a JSON value
    at = locate(found.entity, value, quote, [found.passage])
    return at is not None and (at.start, at.end) == (found.start, found.end)


async def _sentences(
    holdfast: Holdfast, job_id: str, report: Report, mark: int
) -> tuple[Sentence, ...]:
    rows = await sources.model_calls_of(holdfast.db, job_id, [SYNTHESISER.name])
    drafts = [(row, _texts(row)) for row in rows]
    return tuple(
        _sentence(part, each.text, drafts)
        for part, statements in _parts(report)
        for each in statements
        if mark in each.marks
    )


def _parts(report: Report) -> Iterable[tuple[str, Sequence[ReportStatement]]]:
    yield "summary", report.summary
    yield "findings", report.findings
    yield "analysis", report.analysis
    yield "conclusions", report.conclusions
    yield "contradictions", [side for e in report.contradictions for side in (e.one, e.other)]


def _sentence(part: str, text: str, drafts: Sequence[tuple[Any, frozenset[str]]]) -> Sentence:
    """The sentence with the newest draft that has it; the engine may have hedged it since."""
    said = text.removeprefix(HEDGE)
    row = next((row for row, texts in drafts if said in texts), None)
    if row is None:
        return Sentence(part=part, text=text, note=_BY_RULES)
    note = "hedged by the check of its citations" if said != text else ""
    return Sentence(part=part, text=text, written_by=_model_record(row), note=note)


def _texts(row: Any) -> frozenset[str]:  # noqa: ANN401 - a row
    try:
        answer = without_marks(read_reply(row.response or "", SynthesiserAnswer))
    except ReplyInvalid:
        return frozenset()
    return frozenset(each.text for part in parts_of(answer).values() for each in part)


def _tool_record(row: Any) -> CallRecord:  # noqa: ANN401 - a row
    arguments = json.loads(row.request)
    return CallRecord(name=row.tool, arguments=arguments, repeats=row.repeats, **_record(row))


def _model_record(row: Any) -> CallRecord:  # noqa: ANN401 - a row
    return CallRecord(name=row.model, role=row.role, **_record(row))


def _record(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a row
    names = (
        "id", "task_id", "attempt", "part", "status", "request_hash", "started_at", "finished_at",
        "sends", "reused",
    )  # fmt: skip
    return {name: getattr(row, name) for name in names} | {"recovered_in": row.recovery}
