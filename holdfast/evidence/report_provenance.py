"""Trace a mark of a report to the quoted passage, the recorded calls and Temporal's history."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.client import Holdfast
from holdfast.evidence.activity_history import JobHistories
from holdfast.jobs.job_lookup import report_of
from holdfast.models.errors import NotFound
from holdfast.models.evidence.evidence import Citation, Report, ReportStatement
from holdfast.models.reports.provenance_views import LedgerCall, MarkedSentence, Provenance
from holdfast.models.reports.report_writer_messages import Statement, SynthesiserAnswer
from holdfast.models.text.report_marks import without_marks
from holdfast.models.wire import call_places, stored_keys
from holdfast.planning.loop.loop_reply import answered_sentences
from holdfast.planning.reports.citation_marks import statements_by_part, without_citation_marks
from holdfast.planning.reports.sentence_support import without_hedge
from holdfast.planning.text.quote_location import locate_quote
from holdfast.roles.dialogue.reply_reader import ReplyInvalid, read_reply
from holdfast.roles.loop.loop_agent import ROLE as LOOP_AGENT
from holdfast.roles.reports.sentence_corrector import (
    SENTENCE_CORRECTOR,
    SentenceCorrectorAnswer,
)
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.tasks.extractor import EXTRACTOR, ExtractorAnswer
from holdfast.storage.core.database import Database
from holdfast.storage.evidence import source_queries
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.evidence.source_check_rows import latest_source_checks
from holdfast.storage.evidence.source_queries import CitedEvidence
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.recorded_answers import recorded_answer

_REPORT_ACTIVITY = "report"
"""What the report's activity is called in Temporal, and its calls in the ledger."""
_RULES_NOTE = "put in by rules: the engine's own words, or what a verification round found"


@dataclass(frozen=True)
class FetchCall:
    """The tool call whose answer has the passage, and the earlier call whose answer it reused."""

    call: LedgerCall | None
    earlier: LedgerCall | None = None
    has_passage: bool = False


async def provenance_of(holdfast: Holdfast, job_id: str, mark: int) -> Provenance:
    """Trace a mark of the report to its source.

    Raises:
        NotFound: there is no such job, no report, or no such mark in the report.
    """
    report = await report_of(holdfast, job_id)
    citation = _citation(report, job_id, mark)
    found = (
        await source_queries.load_cited_evidence(holdfast.db, job_id, [citation.evidence_id])
    ).get(citation.evidence_id)
    if found is None:
        raise NotFound(
            f"job {job_id} has no evidence {citation.evidence_id} any more", is_named=False
        )
    sentences = await _sentences(holdfast, job_id, report, mark)
    by_tool = await find_fetch_call(holdfast.db, job_id, found)
    extracted = await _find_extraction_call(holdfast, job_id, found)
    histories = JobHistories(holdfast, job_id)
    written = next((each.written_by for each in sentences if each.written_by), None)
    worked = extracted or by_tool.call
    place = stored_keys.task_activity(found.reading_step, found.reading_attempt)
    return Provenance(
        job_id=job_id,
        mark=mark,
        sentences=sentences,
        writing=await histories.place(
            _writing_activity(written), written.finished_at if written else None
        ),
        citation=citation,
        task_id=found.task_id,
        attempt=found.attempt,
        entity=found.entity,
        value=found.value,
        status=found.status,
        resolves=found.resolves,
        source_start=found.start,
        source_end=found.end,
        check=(await latest_source_checks(holdfast.db, [found.id])).get(found.id),
        fetched_by=by_tool.call,
        repeated=by_tool.earlier,
        extracted_by=extracted,
        working=await histories.place(place, worked.finished_at if worked else None),
        notes=(
            *await _earlier_job_notes(holdfast.db, job_id, found),
            *_notes(by_tool, extracted, written),
        ),
    )


def _citation(report: Report, job_id: str, mark: int) -> Citation:
    for each in report.citations:
        if each.mark == mark:
            return each
    marks = f"1 to {len(report.citations)}" if report.citations else "none"
    raise NotFound(f"the report of {job_id} has no mark {mark}; its marks: {marks}", field="mark")


def _writing_activity(written: LedgerCall | None) -> str:
    """Return the activity in which a sentence was written: the report, or the turn of a loop."""
    if written is None or written.role != LOOP_AGENT:
        return _REPORT_ACTIVITY
    turn = call_places.turn_of_loop(written.part)
    return stored_keys.agent_turn_activity(written.task_id, written.attempt, turn)


async def _earlier_job_notes(db: Database, job_id: str, found: CitedEvidence) -> tuple[str, ...]:
    """Name the job that read the passage, if the question follows that job."""
    before = (await job_rows.load_job(db, job_id)).request.followed_job
    # The passages that a follow-up begins with are under the task of its loop, not under a step.
    if before is None or found.reading_step != found.task_id:
        return ()
    report = await load_report(db, before)
    if report is None:
        return (f"job {before}, which this job follows, read the passage; it was removed",)
    marks = [each.mark for each in report.citations if each.source_id == found.source_id]
    mark = f"; its report names it at mark {marks[0]}" if marks else ""
    return (f"job {before}, which this job follows, read the passage{mark}",)


def _notes(
    fetched: FetchCall, extracted: LedgerCall | None, written: LedgerCall | None
) -> tuple[str, ...]:
    notes = []
    if fetched.call is None:
        notes.append("the ledger has no answered tool call of this attempt")
    elif not fetched.has_passage:
        notes.append("the recorded answer of this call does not hold the passage")
    if extracted is None and (written is None or written.role != LOOP_AGENT):
        notes.append("no model located the words: rules did, by what the task looks for")
    return tuple(notes)


async def find_fetch_call(db: Database, job_id: str, found: CitedEvidence) -> FetchCall:
    """Return the attempt's call whose recorded answer has the passage, else its newest call."""
    rows = await source_queries.tool_calls_of(db, job_id, found.reading_step, found.reading_attempt)
    holding = next((row for row in rows if _has_passage(row, found)), None)
    row = holding or next(iter(rows), None)
    if row is None:
        return FetchCall(None)
    earlier = (
        await source_queries.load_tool_call(db, row.repeated_call_id)
        if row.repeated_call_id
        else None
    )
    return FetchCall(_tool_record(row), earlier and _tool_record(earlier), holding is not None)


def _has_passage(row: Any, found: CitedEvidence) -> bool:  # noqa: ANN401 - a row
    wanted = found.passage
    return any(
        (each.text, each.start) == (wanted.text, wanted.start) and each.address == wanted.address
        for each in recorded_answer(row.response, row.tool).passages
    )


async def _find_extraction_call(
    holdfast: Holdfast, job_id: str, found: CitedEvidence
) -> LedgerCall | None:
    """Return the extractor's call whose reply gives the entity with exactly this quote."""
    rows = await source_queries.model_calls_of(
        holdfast.db, job_id, [EXTRACTOR.name], found.task_id, found.attempt
    )
    for row in rows:
        try:
            answer = read_reply(row.response or "", ExtractorAnswer)
        except ReplyInvalid:
            continue
        if any(
            _matches_evidence(each.value, each.quote, found)
            for each in answer.entities
            if each.name == found.entity
        ):
            return _model_record(row)
    return None


def _matches_evidence(value: Any, quote: str, found: CitedEvidence) -> bool:  # noqa: ANN401 - a JSON value
    at = locate_quote(found.entity, value, quote, [found.passage])
    return at is not None and (at.start, at.end) == (found.start, found.end)


async def _sentences(
    holdfast: Holdfast, job_id: str, report: Report, mark: int
) -> tuple[MarkedSentence, ...]:
    writers = [SYNTHESISER.name, SENTENCE_CORRECTOR.name, LOOP_AGENT]
    rows = await source_queries.model_calls_of(holdfast.db, job_id, writers)
    drafts = [(row, _texts(row)) for row in rows]
    return tuple(
        _sentence(part, each.text, drafts).model_copy(update={"level": each.level})
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


def _sentence(part: str, text: str, drafts: Sequence[tuple[Any, frozenset[str]]]) -> MarkedSentence:
    """Return the sentence with its newest draft; the engine may have hedged the sentence later."""
    said = without_hedge(text)
    row = next((row for row, texts in drafts if texts & {said, f"{said}."}), None)
    if row is None:
        return MarkedSentence(part=part, text=text, note=_RULES_NOTE)
    note = "hedged by the check of its citations" if said != text else ""
    return MarkedSentence(part=part, text=text, written_by=_model_record(row), note=note)


def _texts(row: Any) -> frozenset[str]:  # noqa: ANN401 - a row
    if row.role == LOOP_AGENT:
        return frozenset(without_marks(each) for each in answered_sentences(row.response or ""))
    try:
        draft = without_citation_marks(_draft(row))
    except ReplyInvalid:
        return frozenset()
    return frozenset(each.text for part in statements_by_part(draft).values() for each in part)


def _draft(row: Any) -> SynthesiserAnswer:  # noqa: ANN401 - a row
    """The whole draft of the report, or one of the corrected sentences alone.

    Raises:
        ReplyInvalid: the recorded reply is not an answer of its role.
    """
    if row.role != SENTENCE_CORRECTOR.name:
        return read_reply(row.response or "", SynthesiserAnswer)
    answer = read_reply(row.response or "", SentenceCorrectorAnswer)
    return SynthesiserAnswer(
        summary=[Statement(text=e.text, evidence=e.evidence) for e in answer.sentences]
    )


def _tool_record(row: Any) -> LedgerCall:  # noqa: ANN401 - a row
    arguments = json.loads(row.request)
    return LedgerCall(
        name=row.tool, arguments=arguments, repeated_call_id=row.repeated_call_id, **_record(row)
    )


def _model_record(row: Any) -> LedgerCall:  # noqa: ANN401 - a row
    return LedgerCall(name=row.model, role=row.role, **_record(row))


def _record(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a row
    names = (
        "id",
        "task_id",
        "attempt",
        "part",
        "status",
        "request_hash",
        "started_at",
        "finished_at",
        "sends",
        "reused",
    )
    return {name: getattr(row, name) for name in names} | {"recovered_in": row.recovery}
